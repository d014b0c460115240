"""What the elements of DocBook, DITA, JATS, TEI, FictionBook and OPML are: data, each as the HTML element that says the same.

`parent/name` goes before `name`. An element that is not here is a paragraph where it holds text of its own, else a division.
"""


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


#: By HTML element, the elements that mean it.
_MEANS = {
    "p": "caption/title p para simpara shortdesc cmd subtitle attribution v l text-author label def-item/p",
    "heading": "title article-title head",
    "caption": "table/title table/caption simpletable/title informaltable/caption table-wrap/caption table/head",
    "div": "note info figure/title fig/caption",
    "ul": "itemizedlist ul list sl simplelist steps-unordered calloutlist choices",
    "ol": "orderedlist ol procedure steps substeps references ref-list",
    "li": "listitem list-item li sli step substep stepsection member callout choice item ref",
    "dl": "variablelist dl def-list glosslist parml",
    "dt": "varlistentry/term dt def-item/term glossterm pt",
    "dd": "varlistentry/listitem dd def-item/def glossdef pd",
    "table": "table informaltable simpletable properties choicetable",
    "thead": "thead",
    "tbody": "tbody",
    "tfoot": "tfoot",
    "tr": "tr row strow sthead prophead property chhead chrow",
    "td": "td entry stentry proptype propvalue propdesc choption chdesc cell entrytbl",
    "th": "th sthead/stentry proptypehd propvaluehd propdeschd choptionhd chdeschd",
    "pre": "programlisting screen literallayout synopsis codeblock pre msgblock preformat eg",
    "blockquote": "blockquote epigraph disp-quote lq div/quote body/quote",
    "code": "code literal codeph command filename option userinput computeroutput systemoutput apiname cmdname "
    "varname parmname monospaced filepath classname function envar tt replaceable",
    "br": "br break lb sbr empty-line",
    "sub": "sub subscript",
    "sup": "sup superscript",
    "math": "math",
    "annotation": "annotation",
    "footnote": "footnote fn",
    "span": "xref link ulink emphasis ph keyword uicontrol menucascade b i u bold italic strong phrase trademark quote q "
    "citetitle term abbrev acronym named-content styled-content ext-link hi a style strikethrough",
    "outline": "outline",
    # What tells of the document and not its subject, and what only readers of the source see.
    "": "teiHeader titleabbrev prolog related-links titlealts journal-meta article-id article-categories contrib-group aff "
    "author-notes pub-date volume issue elocation-id fpage lpage history permissions kwd-group counts custom-meta-group "
    "self-uri author authorgroup editor copyright pubdate date edition legalnotice releaseinfo revhistory keywordset "
    "subjectset productname indexterm remark comment draft-comment required-cleanup colspec spanspec binary description "
    "sec/label data object-id processing-meta funding-group opml/head metadata param",
}
NAMES = {name: html for html, names in _MEANS.items() for name in names.split()}
#: What has a title that is a heading.
SECTIONS = _set(
    "article book chapter part set appendix preface section sect1 sect2 sect3 sect4 sect5 simplesect refentry refsection "
    "refsect1 refsect2 glossary bibliography topic concept task reference troubleshooting glossentry sec app abstract div "
    "example-section back"
)
#: What has a title that is none, but stands above what it holds.
TITLED = _set(
    "figure fig example informalexample formalpara note tip warning caution important procedure step sidebar boxed-text "
    "itemizedlist orderedlist variablelist table-wrap simpletable list def-list caption"
)
#: Root elements by which these vocabularies are known.
ROOTS = SECTIONS | {"dita", "TEI", "TEI.2", "FictionBook", "opml"}
#: Root elements of files that list others and hold no text.
MAPS = _set("map bookmap")
