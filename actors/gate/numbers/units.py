"""What a number counts: percent, currencies, calendar and measures, in the spellings of five languages.

Only units that exclude each other are listed; a number of anything else has the unit "".
"""

import re
from typing import Final

_AFTER: Final = {
    "percent": "% percent per-cent pour-cent pourcents pct 퍼센트 프로 パーセント بالمئه بالمائه في-المئه في-المائه",
    "eur": "€ euro euros eur 유로 欧元 يورو",
    "usd": "$ dollar dollars usd 달러 불 美元 美金 دولار دولارا دولارات",
    "gbp": "£ pounds-sterling gbp livres-sterling 파운드 英镑 جنيه-استرليني",
    "krw": "₩ won krw 원 韩元",
    "cny": "yuan rmb cny 위안 元 人民币 يوان",
    "jpy": "¥ yen jpy 엔 日元 ين",
    "year": "year years yrs yr an ans année années 년 년간 年 سنه سنوات عام اعوام عاما",
    "month": "월",
    "months": "month months mois 개월 달 个月 شهر اشهر شهور شهرا شهرين",
    "week": "week weeks semaine semaines 주 주일 周 星期 اسبوع اسابيع",
    "day": "day days jour jours 일 일간 天 日 يوم ايام يوما",
    "hour": "hour hours heure heures hr hrs 시간 小时 ساعه ساعات",
    "clock": "시 点 點 o'clock",
    "minute": "minute minutes min mn 분 분간 分 分钟 دقيقه دقائق",
    "second": "second seconds secondes sec 초 秒 ثانيه ثواني ثوان",
    "km": "km kilometer kilometers kilometre kilometres kilomètre kilomètres 킬로미터 公里 千米 كيلومتر كيلومترا كم",
    "m": "m meter meters metre metres mètre mètres 미터 米 متر امتار مترا",
    "cm": "cm centimeters centimetres centimètres 센티미터 厘米 سنتيمتر سم",
    "mm": "mm millimeters millimetres millimètres 밀리미터 毫米 مليمتر ملم",
    "mile": "mile miles 마일 英里 ميل ميلا اميال",
    "foot": "ft foot feet pieds 피트 英尺 قدم قدما اقدام",
    "kg": "kg kilogram kilograms kilos kilogrammes 킬로그램 公斤 千克 كيلوغرام كغ كجم",
    "g": "g gram grams grammes 그램 克 غرام جرام",
    "mg": "mg milligram milligrams milligrammes 밀리그램 毫克 ملغ مليغرام",
    "tonne": "ton tons tonne tonnes 톤 吨 طن اطنان",
    "pound": "lb lbs",
    "litre": "l liter liters litre litres 리터 升 لتر",
    "ml": "ml 밀리리터 毫升 مل",
    "celsius": "°c ℃ 섭씨",
    "fahrenheit": "°f ℉ 화씨",
    "km2": "km^2 km2 평방킬로미터 제곱킬로미터 平方公里 平方千米",
    "m2": "m^2 m2 평방미터 제곱미터 平方米",
    "century": "century centuries siècle siècles 세기 世纪 世紀",
    "decade": "s 년대 年代",
}  # fmt: skip
_BEFORE: Final = {
    "$": "usd", "us$": "usd", "€": "eur", "£": "gbp", "₩": "krw", "¥": "jpy", "usd": "usd", "eur": "eur", "eur ": "eur",
    "百分之": "percent", "القرن ": "century", "القرن ال": "century",
    "عام ": "year", "سنه ": "year", "العام ": "year",
}  # fmt: skip
MONTHS: Final = {
    word: number
    for number, names in enumerate(
        (
            "january jan janvier janv يناير كانون-الثاني",
            "february feb février fevrier févr فبراير شباط",
            "march mars مارس اذار",
            "april apr avril avr ابريل نيسان",
            "may mai مايو ايار",
            "june jun juin يونيو حزيران",
            "july jul juillet juil يوليو تموز",
            "august aug août aout اغسطس اب",
            "september sept. sep septembre سبتمبر ايلول",
            "october oct octobre اكتوبر تشرين-الاول",
            "november nov novembre نوفمبر تشرين-الثاني",
            "december dec décembre decembre déc ديسمبر كانون-الاول",
        ),
        start=1,
    )
    for word in names.split()
}

_UNIT_OF: Final = {word.replace("-", " "): unit for unit, spelled in _AFTER.items() for word in spelled.split()}


def _ends_word(word: str) -> str:
    """Latin and Arabic units must end there; Korean and Chinese ones take particles."""
    return re.escape(word) + (r"(?![^\W\d_])" if word[-1].isalpha() and word[-1] < "\u0700" else "")


_UNIT = re.compile(
    r"(?:[ -]|(?<=\d))?(?:" + "|".join(_ends_word(word) for word in sorted(_UNIT_OF, key=len, reverse=True)) + ")"
)
_LEAD = re.compile("(?:" + "|".join(re.escape(word) for word in sorted(_BEFORE, key=len, reverse=True)) + r") ?\Z")


def unit_after(text: str, at: int) -> tuple[str, int]:
    """The unit that begins at `at` (one space allowed) and where it ends; ("", at) for none."""
    while at < len(text) and text[at] in "\n":
        return "", at
    found = _UNIT.match(text, at)
    if not found:
        return "", at
    word = found[0].lstrip(" -")
    # "1980 s" is a word that begins with s, "1980s" a decade.
    if word == "s" and found[0] != word:
        return "", at
    return _UNIT_OF[word], found.end()


def unit_before(text: str, at: int) -> str:
    """The unit written before the number that begins at `at`, as in `$5` or 百分之五; "" for none."""
    found = _LEAD.search(text, max(0, at - 10), at)
    return (
        _BEFORE.get(found[0], _BEFORE.get(found[0].rstrip(), _BEFORE.get(found[0].rstrip() + " ", ""))) if found else ""
    )
