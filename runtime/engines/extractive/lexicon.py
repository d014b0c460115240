"""Word lists of the five languages, as `words.fold` leaves them. Long texts of their own, so that rules stay readable."""

_ENGLISH = """
a an the this that these those it its he she they him her them his their theirs hers i me my we us our you your who whom
whose which what when where why how is are was were be been being am do does did doing done have has had having will
would shall should can could may might must of in on at to from by with without for as and or but nor so if then than
there here not no yes into onto over under about between among during before after through up down out off again also
any some such each other another only own same too very s t d ll m re ve one ones many much most more less least
"""
_FRENCH = """
le la les un une des du de d l au aux ce cet cette ces il elle ils elles on je tu nous vous me te se lui leur leurs son
sa ses mon ma mes ton ta tes notre nos votre vos qui que quoi dont ou quand comment pourquoi combien quel quelle quels
quelles lequel laquelle lesquels lesquelles est sont etait etaient etre ete a ont avait avaient avoir eu fait fut furent
ne pas plus et mais donc or ni car si dans en sur sous par pour avec sans chez vers entre pendant depuis avant apres
comme aussi tres tout tous toute toutes y c s n j m t qu cela ca est-ce il-y-a
"""
_KOREAN = """
이 그 저 것 수 등 및 또는 그리고 그러나 하지만 또한 에서 의 를 을 은 는 가 와 과 도 로 으로 누구 누가 누구인가
누구인가요 무엇
무엇인가 무엇인가요 무엇을 무엇이 무슨 어떤 어떻게 어디 어디인가 어디인가요 어디에 어디에서 언제 언제인가 언제인가요
왜 몇 얼마
얼마나 어느 이름은 있는 있다 있는가 있나요 하는 한 할 했다 하였다 되는 된 대한 대해 대하여 위해 위한 때 중 이다 였다
인가 인가요
입니까 습니까 있습니까 뭐 뭐야 무엇입니까 어디입니까 언제입니까 누구입니까 것은 것을 것이 곳은 사람은 후 전 당시
"""
_ARABIC = """
في من الي علي عن مع هو هي هم هذا هذه ذلك تلك التي الذي الذين اللذان ما ماذا متي اين كيف لماذا كم من اي ايه هل كان كانت
كانوا يكون تكون ان انه انها لا لم لن ليس قد لقد ثم او و ف ب ل ك بين بعد قبل عند كل بعض غير حتي اذا لدي منذ خلال حيث كما
لكن ايضا وهو وهي وقد فيه فيها به بها له لها لهم منه منها عليه عليها اليه اليها الا ولا وما ومن وفي وكان مما مثل
"""

FUNCTION_WORDS = frozenset((_ENGLISH + _FRENCH + _KOREAN + _ARABIC).split())

_KOREAN_STEMS = """
그것 이것 저것 무엇 누구 어디 언제 얼마 것 곳 여기 거기 우리 저희 자신 무슨 어떤
"""
#: The same after the particle is off.
KOREAN_FUNCTION_STEMS = frozenset(_KOREAN_STEMS.split())

_PARTICLES = """
은 는 이 가 을 를 의 에 로 와 과 도 만 며 고 인 나 야 께 란
에서 에게 에는 에도 으로 로서 로써 까지 부터 보다 처럼 마다 조차 라는 이라 라고 이나 들은 들이 들을 들의 에의 와의 과의
만을 만이 께서 한테 이란 으로서 으로써 에서는 에서의 에게서 으로는 이라는 이라고 들에게 들에서 까지의 부터의 에서도
으로도 에게는
"""
_VERB_ENDINGS = """
하고 하는 한다 하며 하여 했다 했던 하던 되는 되어 되며 되고 된다 됐다 였다 이다 인가 이며 이고 였던 하였다 하였던
하는가 하게
하기 하지 한가 되었다 되었던 되는가 되기 되지 였는가 이었다 인가요 입니까 합니다 입니다 됩니다 하나요 되나요 했는가
했나요 했습니다
하였는가 되었는가 하였으며 되었으며 되었나 했으며 했지만 하면서 시킨 시키는 시켰다 당한 당했다 받은 받았다 하려고 하려는
나요 는다 는가 습니까 습니다 었다 았다 었던 았던 었나요 았나요 었는가 았는가 었습니까 았습니까 었습니다 았습니다 어요
아요 을까요
"""
#: Particles, copulas and verb endings that follow a Korean noun or stem, longest first.
KOREAN_ENDINGS: tuple[str, ...] = tuple(
    sorted((_PARTICLES + _VERB_ENDINGS).split(), key=lambda ending: (-len(ending), ending))
)
#: One syllable before these is a noun all the same: `문을`, `책을`.
AFTER_ONE_SYLLABLE = frozenset("을를")
