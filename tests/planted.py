"""Personal data, secrets and addresses to plant, a dozen formats and more, made with a seed."""

import random
import string

from stdnum import iban, luhn
from stdnum.es import dni

LETTERS, LOWER, DIGITS = string.ascii_letters + string.digits, string.ascii_lowercase, string.digits


def some(chance: random.Random, letters: str, count: int) -> str:
    return "".join(chance.choice(letters) for _ in range(count))


def token(chance: random.Random, count: int) -> str:
    """Disorder: at least every fourth character is a digit."""
    return "".join(chance.choice(DIGITS if n % 4 == 3 else string.ascii_letters) for n in range(count))


def _card(chance: random.Random) -> str:
    digits = "4" + some(chance, DIGITS, 14)
    digits += luhn.calc_check_digit(digits)
    return " ".join(digits[n : n + 4] for n in range(0, 16, 4))


def _iban(chance: random.Random) -> str:
    rest = some(chance, DIGITS, 18)
    return "DE" + iban.calc_check_digits(f"DE00{rest}") + rest


def _dni(chance: random.Random) -> str:
    number = some(chance, DIGITS, 8)
    return number + dni.calc_check_digit(number)


def _resident(chance: random.Random) -> str:
    born = f"{chance.randrange(60, 99)}0{chance.randrange(1, 9)}{chance.randrange(10, 28)}"
    return f"{born}-{chance.choice('12')}{some(chance, DIGITS, 6)}"


#: The sentence that holds the value, and the value.
FORMATS = {
    "mail": ("Write to {} about it.", lambda c: f"{some(c, LOWER, 6)}.{some(c, LOWER, 5)}@{some(c, LOWER, 7)}.com"),
    "korean mobile": ("Call {} about it.", lambda c: f"010-{some(c, '23456789', 4)}-{some(c, DIGITS, 4)}"),
    "french mobile": ("The phone is {} here.", lambda c: "06" + "".join(f" {some(c, DIGITS, 2)}" for _ in range(4))),
    "card": ("The card {} pays for it.", _card),
    "account": ("The account {} takes the money.", _iban),
    "identity": ("DNI {} is on file.", _dni),
    "resident": ("Resident number {} is on file.", _resident),
    "passport": ("Passport {} is on file.", lambda c: f"M{some(c, DIGITS, 8)}"),
    "aws": ("The key {} opens it.", lambda c: "AKIA" + some(c, string.ascii_uppercase + DIGITS, 16)),
    "github": ("Use {} for it.", lambda c: "ghp_" + some(c, LETTERS, 36)),
    "openai": ("The service has {} set.", lambda c: "sk-" + token(c, 32)),
    "jwt": ("Send {} with it.", lambda c: f"eyJ{token(c, 20)}.eyJ{token(c, 24)}.{token(c, 24)}"),
    "password": ("The password: {} works.", lambda c: f"{some(c, LOWER, 6)}{some(c, DIGITS, 2)}"),
    "spoken password": ("The password is {} for now.", lambda c: f"{some(c, LOWER, 6)}{some(c, DIGITS, 1)}"),
    "disorder": ("Its name is {} there.", lambda c: token(c, 24)),
    "uuid": ("Ticket {} has it.", lambda c: "-".join(some(c, "0123456789abcdef", n) for n in (8, 4, 4, 4, 12))),
    "ip": ("The server is {} now.", lambda c: ".".join(str(c.randrange(11, 250)) for _ in range(4))),
    "mac": ("The card {} answers.", lambda c: ":".join(some(c, "0123456789abcdef", 2) for _ in range(6))),
    "in address": ("Open https://{}@depot.example.com/ for it.", lambda c: f"{some(c, LOWER, 6)}:{token(c, 10)}"),
    "host": ("See {} for it.", lambda c: f"{some(c, LOWER, 8)}.corp"),
    "street": ("She lives at {} today.", lambda c: f"{c.randrange(10, 999)} {some(c, LOWER, 7).title()} Street"),
}  # fmt: skip


def planted(seed: int, count: int) -> list[tuple[str, str, str]]:
    """`count` values: the format, a sentence with the value, and the value."""
    chance = random.Random(seed)
    found = []
    for n in range(count):
        name = [*FORMATS][n % len(FORMATS)]
        sentence, make = FORMATS[name]
        value = make(chance)
        found.append((name, sentence.format(value), value))
    return found
