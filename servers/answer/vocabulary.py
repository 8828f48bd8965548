"""The words that the judge of answers knows: months, weekdays, numbers, units, currencies, in a few languages."""

import re


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


_MONTHS = (
    "january jan januar janvier janv enero ene gennaio genn gen janeiro januari styczen stycznia",
    "february feb februar fevrier fevr fev febrero febbraio febb fevereiro februari luty lutego",
    "march mar marz maerz mars marzo marco maart marzec marca",
    "april apr avril avr abril abr aprile kwiecien kwietnia",
    "may mai mayo maggio mag maio mei maj maja",
    "june jun juni juin junio giugno giu junho czerwiec czerwca",
    "july jul juli juillet juil julio luglio lug julho lipiec lipca",
    "august aug aout agosto ago augustus augusti sierpien sierpnia",
    "september sep sept septembre septiembre settembre sett setembro wrzesien wrzesnia",
    "october oct oktober okt octobre octubre ottobre ott outubro pazdziernik pazdziernika",
    "november nov novembre noviembre novembro listopad listopada",
    "december dec dezember dez decembre diciembre dic dicembre dezembro grudzien grudnia",
)
MONTHS = {word: number for number, words in enumerate(_MONTHS, start=1) for word in words.split()}
_WEEKDAYS = (
    "monday mon montag lundi lunes lunedi segunda-feira maandag",
    "tuesday tue tues dienstag mardi martes martedi terca-feira dinsdag",
    "wednesday wed mittwoch mercredi miercoles mercoledi quarta-feira woensdag",
    "thursday thu thur thurs donnerstag jeudi jueves giovedi quinta-feira donderdag",
    "friday fri freitag vendredi viernes venerdi sexta-feira vrijdag",
    "saturday samstag sonnabend samedi sabado sabato zaterdag",
    "sunday sonntag dimanche domingo domenica zondag",
)
WEEKDAYS = {word: number for number, words in enumerate(_WEEKDAYS) for word in words.split()}

_UNITS = (
    "zero null cero",
    "one eins een",
    "two zwei zwo deux dos twee",
    "three drei trois tres tre drie",
    "four vier quatre cuatro quattro",
    "five funf fuenf cinq cinco cinque vijf",
    "six sechs seis zes",
    "seven sieben sept siete sette zeven",
    "eight acht huit ocho otto",
    "nine negen neun neuf nueve nove",
    "ten tien zehn dix diez dieci",
    "eleven elf onze undici",
    "twelve twaalf zwolf zwoelf douze doce dodici dozen",
    "thirteen dreizehn treize trece tredici",
    "fourteen vierzehn quatorze catorce quattordici",
    "fifteen funfzehn quinze quince quindici",
    "sixteen sechzehn seize dieciseis sedici",
    "seventeen siebzehn dix-sept diecisiete diciassette",
    "eighteen achtzehn dix-huit dieciocho diciotto",
    "nineteen neunzehn dix-neuf diecinueve diciannove",
)
_TENS = (
    "",
    "",
    "twenty zwanzig vingt veinte venti",
    "thirty dreissig trente treinta trenta",
    "forty fourty vierzig quarante cuarenta quaranta",
    "fifty funfzig cinquante cincuenta cinquanta",
    "sixty sechzig soixante sesenta sessanta",
    "seventy siebzig soixante-dix setenta settanta",
    "eighty achtzig quatre-vingts ochenta ottanta",
    "ninety neunzig quatre-vingt-dix noventa novanta",
)
UNITS = {word: number for number, words in enumerate(_UNITS) for word in words.split()}
TENS = {word: 10 * number for number, words in enumerate(_TENS) for word in words.split()}
SCALES = {
    "hundred": 100,
    "hundert": 100,
    "cent": 100,
    "cents": 100,
    "cien": 100,
    "ciento": 100,
    "thousand": 1000,
    "tausend": 1000,
    "mille": 1000,
    "mil": 1000,
}
TIMES = {
    "once": 1,
    "single": 1,
    "ein": 1,
    "eine": 1,
    "einen": 1,
    "un": 1,
    "une": 1,
    "una": 1,
    "twice": 2,
    "thrice": 3,
    "both": 2,
    "einmal": 1,
    "zweimal": 2,
    "dreimal": 3,
}
_ORDINALS = (
    "",
    "first erste ersten erster premier premiere primero primera",
    "second zweite zweiten zweiter deuxieme segundo segunda",
    "third dritte dritten dritter troisieme tercero tercera tercer",
    "fourth vierte vierten quatrieme cuarto cuarta",
    "fifth funfte funften cinquieme quinto quinta",
    "sixth sechste sechsten sixieme sexto sexta",
    "seventh siebte siebten septieme septimo septima",
    "eighth achte achten huitieme octavo octava",
    "ninth neunte neunten neuvieme noveno novena",
    "tenth zehnte zehnten dixieme decimo decima",
    "eleventh elfte elften onzieme",
    "twelfth zwolfte zwolften douzieme",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
)
_TWENTIES = {
    f"twenty{dash}{words.split()[0]}": 20 + number
    for number, words in enumerate(_ORDINALS[:10])
    if words
    for dash in "- "
}
ORDINALS = {
    **{word: number for number, words in enumerate(_ORDINALS) for word in words.split()},
    **_TWENTIES,
    "thirtieth": 30,
    "thirty-first": 31,
    "thirty first": 31,
}

CURRENCIES = {
    "EUR": "eur euro euros €",
    "USD": "usd dollar dollars $ us$",
    "GBP": "gbp pound pounds £ quid",
    "NOK": "nok kr krone kroner kronen norwegian",
    "SEK": "sek kr krona kronor",
    "DKK": "dkk kr krone kroner",
    "CHF": "chf franken franc francs fr",
    "PLN": "pln zl zloty zlotys",
    "CZK": "czk kc koruna",
    "JPY": "jpy yen ¥",
}
CURRENCY_OF: dict[str, set[str]] = {}
for _code, _words in CURRENCIES.items():
    for _word in _words.split():
        CURRENCY_OF.setdefault(_word, set()).add(_code)

_LABELS = {
    "amount": (
        "deposit deposits",
        "voucher vouchers",
        "estimate estimated quote quoted",
        "refund refunded refunds credited: back returned repaid return",
        "excess: share",
        "claimed: worth claim",
        "invoice: invoiced pay pays paid charged charge bill",
        "budget",
        "balance: owe owes owed open outstanding left",
    ),
    "date": (
        "expires expired expiry: expire valid until end ends run runs last lasts through off",
        "shipped dispatched: sent gone out left",
        "entered signed requested: enter sign request applied",
        "notice",
        "concert",
        "concert",
        "begin begins began start starts started: from first opens open beginning",
        "issued granted: issue made grant",
        "reported: report",
        "reopened: reopening reopen",
        "delivered arrives arrive: there delivery arrived comes arrival",
    ),
    "count": (
        "left remaining: free remain remains available still open can may lost more further",
        "taken booked: reserved filled occupied taking take took",
        "opened: open",
        "received: receive arrived came come",
        "sent shipped dispatched posted: send",
        "quota capacity limit: most take may room",
        "tablets: tablet",
    ),
}
LABELS = {
    kind: {
        word: frozenset(group.replace(":", " ").split()) for group in groups for word in group.partition(":")[0].split()
    }
    for kind, groups in _LABELS.items()
}
"""Words beside a value that say what it is of, each with the words of a question that asks for such a one."""

_DURATIONS = {
    1: "min mins minute minutes minuten minuto minutos minuti minut",
    60: "h hr hrs hour hours stunde stunden std heure heures hora horas ora ore",
    1440: "day days tag tage tagen jour jours dia dias giorno giorni nights night",
    10080: "week weeks woche wochen semaine semaines semana semanas settimana settimane wk wks",
    43200: "month months monat monate monaten mois mes meses mese mesi",
    525600: "year years jahr jahre jahren an ans annee annees ano anos anno anni",
}
MINUTES_OF = {word: minutes for minutes, words in _DURATIONS.items() for word in words.split()}


def alternatives(words: object) -> str:
    """A pattern that matches any of some words, the longest first."""
    ordered = sorted((str(word) for word in words), key=lambda word: (-len(word), word))  # pyright: ignore
    return "|".join(re.escape(word) for word in ordered)


EMPTY = word_set(
    "the and for are was were has have had with from this that you your our its his her not now then also just only "
    "it's will would can could may about into per each more most than very please dear all any she they them there "
    "here but or euro eur nok day on at in by to of is be actually sorry mean correction rather wait instead "
    "perhaps maybe answer tell which what when how many much does comes come who whom whether until till since "
    "before after during between"
)
"""Words that say nothing about what a value is of."""

NO_TOPIC = word_set(
    "done do make give put note enter set take record ask decide tell let know thank good morning hello here like "
    "want need also together been being still already something leave part exactly why date amount first last end "
    "today tomorrow week month year time stand way place new reason case desk"
)
"""Words of any task, which do not tell one order of it from another."""
