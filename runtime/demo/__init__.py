"""The demo: documents in every supported language, the places where they contradict each other, and questions about them.

documents/           what `groundwire demo` indexes; nothing else may lie there
contradictions.toml  pairs of documents that contradict each other on purpose
questions.toml       questions with the sentence that answers each, and questions without an answer

Every organisation, rule and figure in the documents is invented; none of it is advice.
"""
