"""The number words of five languages, in the gate's normal form (Arabic without hamza and with final he)."""

from typing import Final

EN_UNITS: Final = dict(
    zip(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ],
        range(20),
        strict=True,
    )
)
EN_TENS: Final = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
EN_ORDINALS: Final = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14, "fifteenth": 15, "sixteenth": 16,
    "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20, "thirtieth": 30, "fortieth": 40,
    "fiftieth": 50, "hundredth": 100, "thousandth": 1000, "twice": 2, "thrice": 3, "dozen": 12,
}  # fmt: skip
FR_UNITS: Final = {
    "zéro": 0, "un": 1, "une": 1, "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "six": 6, "sept": 7, "huit": 8,
    "neuf": 9, "dix": 10, "onze": 11, "douze": 12, "treize": 13, "quatorze": 14, "quinze": 15, "seize": 16,
}  # fmt: skip
FR_TENS: Final = {
    "vingt": 20, "vingts": 20, "trente": 30, "quarante": 40, "cinquante": 50, "soixante": 60, "septante": 70,
    "huitante": 80, "octante": 80, "nonante": 90,
}  # fmt: skip
FR_ORDINALS: Final = {
    "premier": 1, "première": 1, "deuxième": 2, "second": 2, "seconde": 2, "troisième": 3, "quatrième": 4,
    "cinquième": 5, "sixième": 6, "septième": 7, "huitième": 8, "neuvième": 9, "dixième": 10, "onzième": 11,
    "douzième": 12, "quinzième": 15, "vingtième": 20, "centième": 100, "douzaine": 12,
}  # fmt: skip
AR_WORDS: Final = {
    "صفر": 0, "واحد": 1, "واحده": 1, "اثنان": 2, "اثنين": 2, "اثنتان": 2, "اثنتين": 2, "اثنا": 2, "اثني": 2,
    "اثنتا": 2, "اثنتي": 2, "احدي": 1, "احد": 1,
    "ثلاث": 3, "ثلاثه": 3, "اربع": 4, "اربعه": 4, "خمس": 5, "خمسه": 5, "ست": 6, "سته": 6, "سبع": 7, "سبعه": 7,
    "ثمان": 8, "ثماني": 8, "ثمانيه": 8, "تسع": 9, "تسعه": 9, "عشر": 10, "عشره": 10, "عشرون": 20, "عشرين": 20,
    "ثلاثون": 30, "ثلاثين": 30, "اربعون": 40, "اربعين": 40, "خمسون": 50, "خمسين": 50, "ستون": 60, "ستين": 60,
    "سبعون": 70, "سبعين": 70, "ثمانون": 80, "ثمانين": 80, "تسعون": 90, "تسعين": 90, "مئه": 100, "مائه": 100,
    "مئتان": 200, "مئتين": 200, "مائتان": 200, "مائتين": 200,
}  # fmt: skip
AR_HUNDREDS: Final = {
    f"{unit}{hundred}": value * 100
    for unit, value in {
        "ثلاث": 3, "اربع": 4, "خمس": 5, "ست": 6, "سبع": 7, "ثمان": 8, "ثماني": 8, "تسع": 9,
    }.items()
    for hundred in ("مئه", "مائه")
}  # fmt: skip
AR_ORDINALS: Final = {
    "الاول": 1, "الاولي": 1, "الثاني": 2, "الثانيه": 2, "الثالث": 3, "الثالثه": 3, "الرابع": 4, "الرابعه": 4,
    "الخامس": 5, "الخامسه": 5, "السادس": 6, "السادسه": 6, "السابع": 7, "السابعه": 7, "الثامن": 8, "الثامنه": 8,
    "التاسع": 9, "التاسعه": 9, "العاشر": 10, "العاشره": 10,
}  # fmt: skip
AR_DUALS: Final = {
    "يومان": 2, "يومين": 2, "عامان": 2, "عامين": 2, "سنتان": 2, "سنتين": 2, "شهران": 2, "شهرين": 2, "ساعتان": 2,
    "ساعتين": 2, "مرتان": 2, "مرتين": 2, "اسبوعان": 2, "اسبوعين": 2,
}  # fmt: skip
# What multiplies the number before it.
SCALES: Final = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "mln": 1e6, "bn": 1e9,
    "cent": 1e2, "cents": 1e2, "mille": 1e3, "millions": 1e6, "milliard": 1e9, "milliards": 1e9,
    "billions": 1e9, "trillions": 1e12, "thousands": 1e3, "hundreds": 1e2, "milliers": 1e3, "centaines": 1e2,
    "الف": 1e3, "الاف": 1e3, "الفا": 1e3, "الفين": 2e3, "الفان": 2e3,
    "مليون": 1e6, "مليونين": 2e6, "مليونان": 2e6, "مليارين": 2e9, "ملايين": 1e6,
    "مليونا": 1e6,
    "مليار": 1e9, "مليارات": 1e9, "مليارا": 1e9, "تريليون": 1e12, "مئه": 1e2, "مائه": 1e2,
}  # fmt: skip
CJK_SCALES: Final = {
    "十": 1e1, "百": 1e2, "千": 1e3, "万": 1e4, "萬": 1e4, "亿": 1e8, "億": 1e8, "兆": 1e12,
    "십": 1e1, "백": 1e2, "천": 1e3, "만": 1e4, "억": 1e8, "조": 1e12,
}  # fmt: skip
CJK_DIGITS: Final = {
    **{char: value for value, char in enumerate("零一二三四五六七八九")}, "〇": 0, "两": 2, "兩": 2,
    **{char: value for value, char in enumerate("영일이삼사오육칠팔구")}, "공": 0,
}  # fmt: skip
KO_NATIVE_UNITS: Final = {
    "하나": 1, "한": 1, "둘": 2, "두": 2, "셋": 3, "세": 3, "석": 3, "넷": 4, "네": 4, "넉": 4, "다섯": 5, "여섯": 6,
    "일곱": 7, "여덟": 8, "아홉": 9,
}  # fmt: skip
KO_NATIVE_TENS: Final = {
    "열": 10, "스물": 20, "스무": 20, "서른": 30, "마흔": 40, "쉰": 50, "예순": 60, "일흔": 70, "여든": 80, "아흔": 90,
}  # fmt: skip
KO_COUNTERS: Final = (
    "명|개|살|번|가지|시간|시|달|마리|권|대|잔|병|사람|곳|배|차례|편|장|쪽|그루|채|척|켤레|벌|송이|분|갈래|군데|차원|"
    "해|학기|단계|종류|나라|아이|아들|딸|형제|자매|도시|주|팀|골|경기|시즌|줄|통|집|해째|번째|째"
)
KO_SINO_COUNTERS: Final = (
    "명|개|원|년|월|일|회|차|위|번|인|호|세|살|배|권|대|달러|유로|위안|엔|킬로|미터|톤|퍼센트|프로|분|초|시|층|세기"
    "|가구|건|점|석"
)
ZH_COUNTERS: Final = (
    "年月日号个個名位次岁歲元块人天周时時小分秒米公里条條项項种種家所座支本辆只隻倍届屆代世级級层層楼樓度票场場部艘"
    "架队隊枚颗顆篇章节節头頭匹张張台套件份户戶"
)
