/** The texts of mails in German, which address the reader as "Sie". `lifetimes` are in the dative, after "innerhalb von". */
import type { MailLanguage } from "./language.ts";

const TELL_OPERATOR =
  "Wenn Sie das waren, müssen Sie nichts weiter tun. Andernfalls informieren Sie bitte sofort den Betreiber des Dienstes";
const REQUEST_PASSWORD =
  "Wenn Sie das waren, müssen Sie nichts weiter tun. Andernfalls fordern Sie bitte sofort über „Passwort vergessen“ ein neues Passwort an";

export const de: MailLanguage = {
  mails: {
    reset: {
      subject: "Ihr Passwort[ bei {product}] zurücksetzen",
      text: `Für Ihr Konto[ bei {product}] wurde ein neues Passwort angefordert, vermutlich von Ihnen.

Öffnen Sie innerhalb von {lifetime} diesen Link, um ein neues Passwort zu wählen. Der Link funktioniert nur
einmal:

{link}

Wenn Sie das nicht waren, ignorieren Sie diese E-Mail einfach. Ihr Passwort bleibt unverändert.`,
    },
    verification: {
      subject: "Bitte bestätigen Sie Ihre E-Mail-Adresse[ für {product}]",
      text: `Mit dieser E-Mail-Adresse wurde ein Konto[ bei {product}] angelegt.

Wenn Sie das waren, bestätigen Sie die Adresse bitte innerhalb von {lifetime} über diesen Link:

{link}

Wenn Sie sich nicht registriert haben, öffnen Sie den Link bitte nicht und ignorieren Sie diese E-Mail. Die
Adresse bleibt dann unbestätigt. Über „Passwort vergessen“ können Sie das Konto jederzeit übernehmen; wer es
bisher genutzt hat, verliert dann den Zugang.`,
    },
    password: {
      subject: "Ihr Passwort[ bei {product}] wurde geändert",
      text: `Das Passwort für Ihr Konto[ bei {product}] wurde geändert.

${REQUEST_PASSWORD} und informieren Sie den Betreiber des Dienstes.`,
    },
    "email-change-approval": {
      subject: "Neue E-Mail-Adresse für Ihr Konto[ bei {product}] freigeben",
      text: `Für Ihr Konto[ bei {product}] soll künftig eine andere E-Mail-Adresse gelten. Vermutlich haben Sie das
selbst veranlasst.

Sobald Sie zustimmen, erhält die andere Adresse einen Link, der die Änderung abschließt. Danach sind alle
Anmeldungen beendet und alle Passkeys des Kontos entfernt, und Sie melden sich mit der anderen Adresse an.

Wenn Sie einverstanden sind, öffnen Sie bitte innerhalb von {lifetime} diesen Link:

{link}

Wenn Sie das nicht veranlasst haben, öffnen Sie den Link bitte nicht. Es ändert sich dann nichts, aber jemand
kennt Ihr Passwort: Ändern Sie es bitte sofort.`,
    },
    "email-change": {
      subject: "Bitte bestätigen Sie Ihre neue E-Mail-Adresse[ für {product}]",
      text: `Diese E-Mail-Adresse soll künftig für ein Konto[ bei {product}] gelten. Vermutlich haben Sie das selbst
veranlasst.

Nach der Bestätigung sind alle Anmeldungen des Kontos beendet und seine Passkeys entfernt, und Sie melden sich
mit dieser Adresse an.

Bestätigen Sie die Adresse bitte innerhalb von {lifetime} über diesen Link:

{link}

Wenn Sie das nicht veranlasst haben, ignorieren Sie diese E-Mail. Es ändert sich dann nichts.`,
    },
    email: {
      subject: "Ihre E-Mail-Adresse[ bei {product}] wurde geändert",
      text: `Für Ihr Konto[ bei {product}] gilt jetzt eine andere E-Mail-Adresse. Mit der bisherigen können Sie sich
nicht mehr anmelden.

${TELL_OPERATOR}.`,
    },
    invitation: {
      subject: "Ihre Einladung[ zu {product}]",
      text: `Für Sie wurde ein Konto[ bei {product}] angelegt.

Öffnen Sie innerhalb von {lifetime} diesen Link und wählen Sie ein Passwort. Der Link funktioniert nur einmal:

{link}

Wenn Sie das Konto nicht möchten, ignorieren Sie diese E-Mail einfach. Solange Sie kein Passwort wählen, kann
sich dort niemand anmelden.`,
    },
    "login-code": {
      subject: "Ihr Code für die Anmeldung[ bei {product}]",
      text: `Für Ihre Anmeldung[ bei {product}] wurde ein Code angefordert, vermutlich von Ihnen.

Geben Sie diesen Code innerhalb von {lifetime} auf der Seite ein, die danach fragt. Er funktioniert nur einmal:

{code}

Wenn Sie das nicht waren, ignorieren Sie diese E-Mail. Geben Sie den Code an niemanden weiter: Wer ihn kennt,
kann sich anmelden.`,
    },
    "factor-code": {
      subject: "Ihr Code, um Ihr Konto[ bei {product}] mit einer App zu schützen",
      text: `Ihr Konto[ bei {product}] soll bei der Anmeldung zusätzlich mit Codes aus einer App geschützt werden.
Vermutlich haben Sie das selbst veranlasst.

Geben Sie diesen Code innerhalb von {lifetime} auf der Seite ein, die danach fragt. Er funktioniert nur einmal:

{code}

Wenn Sie das nicht waren, geben Sie den Code an niemanden weiter: Jemand kennt Ihr Passwort und könnte Sie
aussperren. Ändern Sie Ihr Passwort bitte sofort.`,
    },
    factor: {
      subject: "Der zweite Faktor für Ihr Konto[ bei {product}] wurde eingerichtet",
      text: `Der zweite Faktor für Ihr Konto[ bei {product}] wurde eingerichtet oder ersetzt, oder es gelten neue
Wiederherstellungscodes. Für die Anmeldung brauchen Sie zusätzlich einen Code aus Ihrer App. Wurde die App
eingerichtet oder ersetzt, sind alle anderen Anmeldungen beendet.

${TELL_OPERATOR}: Ein neues Passwort allein hilft dagegen nicht.`,
    },
    "factor-removed": {
      subject: "Der zweite Faktor für Ihr Konto[ bei {product}] wurde entfernt",
      text: `Ihr Konto[ bei {product}] ist nicht mehr durch Codes aus einer App geschützt. Alle Anmeldungen wurden beendet.

${REQUEST_PASSWORD} und informieren Sie den Betreiber des Dienstes.`,
    },
    "factor-failures": {
      subject: "Bei der Anmeldung[ bei {product}] wurden falsche Codes eingegeben",
      text: `Jemand hat Ihr Passwort[ für {product}] oder einen anderen Ihrer Anmeldewege benutzt und danach falsche
Codes aus der App eingegeben. Ohne einen richtigen Code kann sich niemand anmelden.

Wenn Sie das waren, prüfen Sie bitte die Uhrzeit des Geräts mit der App. Andernfalls kennt jemand Ihr Passwort:
Ändern Sie es bitte sofort.`,
    },
    "recovery-code": {
      subject: "Ein Wiederherstellungscode für Ihr Konto[ bei {product}] wurde benutzt",
      text: `Für Ihr Konto[ bei {product}] wurde statt eines Codes aus der App ein Wiederherstellungscode benutzt. Er gilt
nicht noch einmal.

Wenn Sie das waren, müssen Sie nichts weiter tun. Andernfalls ändern Sie bitte sofort Ihr Passwort und erzeugen
Sie neue Wiederherstellungscodes.`,
    },
    deletion: {
      subject: "Ihr Konto[ bei {product}] wurde gelöscht",
      text: `Ihr Konto[ bei {product}] wurde gelöscht. Das lässt sich nicht rückgängig machen.

${TELL_OPERATOR}.`,
    },
    passkey: {
      subject: "Die Passkeys für Ihr Konto[ bei {product}] wurden geändert",
      text: `Für Ihr Konto[ bei {product}] wurde ein Passkey hinzugefügt oder entfernt.

${REQUEST_PASSWORD} und informieren Sie den Betreiber des Dienstes. Ein neues Passwort entfernt alle Passkeys.`,
    },
    identity: {
      subject: "Die Anmeldewege für Ihr Konto[ bei {product}] wurden geändert",
      text: `Bei Ihrem Konto[ bei {product}] wurde ein anderer Dienst, über den Sie sich anmelden können, hinzugefügt oder
entfernt.

${REQUEST_PASSWORD} und informieren Sie den Betreiber des Dienstes. Mit einem neuen Passwort gelten
alle anderen Anmeldewege nicht mehr.`,
    },
    takeover: {
      subject: "Sie haben Ihr Konto[ bei {product}] übernommen",
      text: `Sie haben sich mit dieser E-Mail-Adresse[ bei {product}] angemeldet und die Adresse damit bestätigt.
Möglicherweise hatte jemand anderes das Konto mit Ihrer Adresse angelegt. Deshalb gelten das bisherige Passwort,
die bisherigen Anmeldungen und die bisherigen Passkeys nicht mehr.

Wenn Sie sich mit einem Passwort anmelden möchten, wählen Sie über „Passwort vergessen“ ein neues.

Wenn Sie das nicht waren, liest jemand Ihre E-Mails mit oder benutzt Ihr Konto bei einem anderen Dienst. Sichern
Sie dieses Konto, fordern Sie sofort ein neues Passwort an und informieren Sie den Betreiber des Dienstes.`,
    },
  },
  buttons: {
    reset: "Neues Passwort wählen",
    verification: "Adresse bestätigen",
    "email-change-approval": "Änderung freigeben",
    "email-change": "Neue Adresse bestätigen",
    invitation: "Passwort wählen",
  },
  linkBelow: "Falls die Schaltfläche nicht funktioniert, öffnen Sie diesen Link:",
  lifetimes: {
    "60 minutes": "60 Minuten",
    "ten minutes": "zehn Minuten",
    "24 hours": "24 Stunden",
    "seven days": "sieben Tagen",
  },
  yourAccount: "Ihr Konto",
  thePassword: "das Passwort",
  quoted: (name) => `„${name}“`,
  dateOf: (date) => date.split("-").toReversed().join("."),
  passkeysLogIn:
    "Mit diesen Passkeys ist die Anmeldung weiterhin möglich, bis Sie über „Passwort vergessen“ ein neues Passwort wählen:",
  loginsLogIn:
    "Damit ist die Anmeldung möglich, bis Sie über „Passwort vergessen“ ein neues Passwort wählen:",
  recoveryCodesLeft: "Noch nicht benutzte Wiederherstellungscodes: {count}",
};
