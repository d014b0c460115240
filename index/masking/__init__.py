"""Personal data in a text, and its mask. It knows the languages and the validators of numbers, and nothing above them.

`text` has the mask itself; each other module recognises one kind of personal data. phonenumbers and python-stdnum, which
know the world's phone numbers and identity numbers, are at home here.
"""
