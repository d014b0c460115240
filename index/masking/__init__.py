"""Personal data in a text, and its mask.

Input: a text, any JSON value (`masked`), or a stream of text (`MaskStream`). Output: the same with MASK in place of every character
of personal data, so offsets stay valid; `values_in` lists the masked values. Guarantees: no model and no network, time linear in
the length, the same result for a stream as for the whole text. `personal_in` and `secret_in` find the values themselves, for
those who put other values in their place.

Imports the languages and the paths of sources. phonenumbers and python-stdnum are used here only.
"""

from index.masking.digits import MASK
from index.masking.finding import Value, personal_in, secret_in
from index.masking.stream import MaskStream
from index.masking.text import OURS, mask, masked, values_in

__all__ = ["MASK", "OURS", "MaskStream", "Value", "mask", "masked", "personal_in", "secret_in", "values_in"]
