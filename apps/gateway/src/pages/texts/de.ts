/** The German texts of the pages of accounts, which address the reader as "Sie". */
import type { Lifetime } from "@latchkey/contracts";
import type { PageTexts } from "./en.ts";

/** In the accusative, after "gilt". */
const LIFETIMES: Readonly<Record<Lifetime, string>> = {
  "60 minutes": "60 Minuten",
  "ten minutes": "zehn Minuten",
  "24 hours": "24 Stunden",
  "seven days": "sieben Tage",
};
const lifetimes = new Map<string, string>(Object.entries(LIFETIMES));
const durationOf = (lifetime: string): string => lifetimes.get(lifetime) ?? lifetime;

export const de: PageTexts = {
  language: "de",
  common: {
    needsScript:
      "Diese Seite benötigt JavaScript. Bitte erlauben Sie es für diese Adresse und laden Sie die Seite neu.",
    continueTo: (product) => (product === null ? "Weiter" : `Weiter zu ${product}`),
    email: "E-Mail",
    password: "Passwort",
    newPassword: "Neues Passwort",
    currentPassword: "Aktuelles Passwort",
    username: "Benutzername",
    show: "Anzeigen",
    passwordRule: (minimum, maximum) => `${minimum} bis ${maximum} Zeichen.`,
    otherLogins: ({ passkeys, identities }) =>
      [...(passkeys ? ["Passkeys"] : []), ...(identities ? ["Anmeldungen über andere Dienste"] : [])].join(
        " und ",
      ) || null,
  },
  login: {
    title: "Bei Ihrem Konto anmelden",
    button: "Anmelden",
    or: "oder",
    passkey: "Mit einem Passkey anmelden",
    provider: (name) => `Mit ${name} anmelden`,
    code: "Mit Code per E-Mail anmelden",
    codeRequest: "Code zusenden",
    codeLabel: "Code",
    codeRule: "Die acht Ziffern aus der E-Mail.",
    codeButton: "Mit dem Code anmelden",
    forgotten: "Passwort vergessen?",
    create: "Konto erstellen",
    factorTitle: "Code eingeben",
    factorIntro: "Ihr Konto ist mit einem zweiten Faktor geschützt.",
    factorLabel: "Code aus Ihrer App",
    factorRule: "Die sechs Ziffern, die sie anzeigt, oder ein Wiederherstellungscode.",
    factorButton: "Weiter",
    cancel: "Auf andere Weise anmelden",
  },
  register: {
    title: "Konto erstellen",
    provider: (name) => `Weiter mit ${name}`,
    usernameRule: "Für andere sichtbar.",
    button: "Konto erstellen",
    login: "Stattdessen anmelden",
    confirmTitle: "E-Mail-Adresse bestätigen",
    confirm:
      'Wir haben einen Link an <strong id="confirm-email"></strong> gesendet. Öffnen Sie ihn, um Ihre Adresse zu bestätigen, und melden Sie sich dann an.',
    confirmed: "Anmelden",
  },
  account: {
    title: "Ihr Konto",
    loggedInAs: (email) => `Sie sind als ${email} angemeldet.`,
    logOut: "Abmelden",
    blocked:
      "Ihr Browser speichert nichts für diese Seite: Ihre Anmeldung endet, sobald Sie die Seite neu laden oder verlassen.",
    unverified: "Ihre E-Mail-Adresse ist noch nicht bestätigt.",
    verify: "Neuen Link zusenden",
    usernameEffect: "Alle Anmeldungen bleiben bestehen.",
    newUsername: "Neuer Benutzername",
    changeUsername: "Benutzernamen ändern",
    passwordEffect: (others) =>
      `Alle Anmeldungen außer dieser enden.${others ? ` Ihre ${others} bleiben bestehen, sofern Sie sie nicht ebenfalls entfernen.` : ""}`,
    removeLogins: (others) => `Auch alle meine ${others} entfernen`,
    changePassword: "Passwort ändern",
    emailEffect: (others) =>
      `Wir senden zuerst einen Link an Ihre bisherige Adresse, sofern sie bestätigt ist, und danach einen an die neue. Bis Sie die Links öffnen, ändert sich nichts. Danach enden alle Anmeldungen${others ? `, und Ihre ${others} werden entfernt` : ""}. Um eine Änderung abzubrechen, geben Sie Ihre bisherige Adresse ein.`,
    newEmail: "Neue E-Mail-Adresse",
    sendLink: "Link zusenden",
    passkeys: "Passkeys",
    passkeysEffect:
      "Mit einem Passkey melden Sie sich per Fingerabdruck, Gesichtserkennung oder Gerätecode an. Wenn Sie einen entfernen, bleiben bestehende Anmeldungen erhalten.",
    passkeyName: "Name des neuen Passkeys",
    createPasskey: "Passkey erstellen",
    identities: "Andere Dienste",
    identitiesEffect:
      "Darüber melden Sie sich ohne das Passwort dieses Kontos an. Wenn Sie einen Dienst entfernen, bleiben bestehende Anmeldungen erhalten.",
    addIdentity: (name) => `${name} hinzufügen`,
    factor: "Zweiter Faktor",
    factorEffect:
      "Eine App auf Ihrem Telefon zeigt Codes an. Jede Anmeldung erfordert dann zusätzlich einen solchen Code, außer mit einem Passkey. Ein neuer zweiter Faktor beendet alle anderen Anmeldungen.",
    factorBegin: "Zweiten Faktor einrichten",
    factorScan:
      "Scannen Sie diesen Code mit einer Authentifizierungs-App, zum Beispiel der Ihres Telefons oder Ihres Passwortmanagers.",
    factorSecret: "Sie können ihn nicht scannen? Geben Sie diesen Schlüssel ein:",
    factorOpen: "In einer App auf diesem Gerät öffnen",
    factorCode: "Code aus der App",
    factorCodeRule: "Die sechs Ziffern, die sie gerade anzeigt.",
    factorMailCode: "Code aus der E-Mail",
    factorMailRule: "Die acht Ziffern, die wir an Ihre E-Mail-Adresse gesendet haben.",
    factorCreate: "Einschalten",
    factorCancel: "Abbrechen",
    factorProof: "Code aus Ihrer App",
    factorProofRule: "Die sechs Ziffern, die sie anzeigt, oder ein Wiederherstellungscode.",
    factorRenewCodes: "Neue Wiederherstellungscodes erzeugen",
    factorReplace: "Zweiten Faktor ersetzen",
    factorRemove: "Zweiten Faktor entfernen",
    factorRemoveRule: "Damit enden alle Anmeldungen, auch diese.",
    recoveryTitle: "Ihre Wiederherstellungscodes",
    recoveryIntro:
      "Bewahren Sie sie dort auf, wo Sie wichtige Unterlagen aufbewahren. Jeder ersetzt einmal einen Code aus der App, zum Beispiel wenn Sie Ihr Telefon verloren haben. Sie werden nicht noch einmal angezeigt.",
    copy: "Kopieren",
    download: "Herunterladen",
    print: "Drucken",
    recoveryDone: "Ich habe sie gespeichert",
    logOutEverywhere: "Überall abmelden",
    logOutEffect: (others) =>
      `Alle Anmeldungen auf allen Geräten enden, auch diese. ${others ? `Ihr Passwort und Ihre ${others} bleiben bestehen` : "Ihr Passwort bleibt bestehen"}.`,
    deletion: "Konto löschen",
    deletionEffect: (others) =>
      `Ihr Konto wird${others ? ` samt seinen ${others}` : ""} gelöscht, und alle Anmeldungen enden. Das lässt sich nicht rückgängig machen.`,
    deletionConfirm: "Ich möchte mein Konto löschen",
    deletionMissing: "Bitte setzen Sie zuerst dieses Häkchen.",
    deletionButton: "Mein Konto löschen",
  },
  authorize: {
    enrol: (application) =>
      `${application} verlangt einen zweiten Faktor. Richten Sie einen ein, um fortzufahren.`,
    withoutFactor: (application) => `Ohne ihn zu ${application} zurückkehren`,
    title: "Anmelden",
    heading: (application) => `Melden Sie sich an, um zu ${application} zu gelangen`,
    loggedIn: "Sie sind angemeldet",
    returning: (application) => `Sie werden zu ${application} weitergeleitet …`,
    returnTo: (application) => `Zurück zu ${application}`,
    problemTitle: "Dieser Link funktioniert nicht",
    problem: "Der Fehler liegt bei der Anwendung, von der Sie kommen. Es wurde niemand angemeldet.",
    forDevelopers: "Für ihre Entwickler:",
    errorTitle: "Sie sind nicht angemeldet",
    error: "Der Fehler liegt bei der Anwendung, von der Sie kommen.",
  },
  links: {
    logIn: "Anmelden",
    newReset: "Neuen Link anfordern",
    newLink: "Anmelden und neuen Link anfordern",
    newChange: "Anmelden und E-Mail-Adresse erneut ändern",
    dead: "Dieser Link ist nicht mehr gültig. Vielleicht wurde er schon benutzt, oder Sie haben inzwischen einen neueren erhalten.",
    optionalEmail:
      "Freiwillig. Mit dieser Angabe sind Sie gleich angemeldet, und Ihr Passwortmanager speichert das Passwort.",
    andRemoves: (others) => (others ? ` und entfernt Ihre ${others}` : ""),
    request: {
      title: "Passwort vergessen?",
      intro:
        "Geben Sie die E-Mail-Adresse Ihres Kontos ein. Wir senden Ihnen einen Link, über den Sie ein neues Passwort wählen können.",
      button: "Link zusenden",
      success: (lifetime) =>
        `Falls es ein Konto mit dieser Adresse gibt, ist ein Link unterwegs. Er gilt ${durationOf(lifetime)}.`,
    },
    reset: {
      title: "Neues Passwort wählen",
      intro: (removes) => `Das beendet alle bisherigen Anmeldungen${removes}.`,
      button: "Passwort ändern",
      success:
        "Ihr Passwort wurde geändert. Sie können sich jetzt damit anmelden; alle bisherigen Anmeldungen wurden beendet.",
    },
    invitation: {
      title: "Willkommen",
      intro:
        "Sie wurden eingeladen. Wählen Sie ein Passwort: Damit bestätigen Sie Ihre E-Mail-Adresse, und mit beidem melden Sie sich künftig an.",
      button: "Passwort wählen",
      success: "Ihr Passwort ist gespeichert. Sie können sich jetzt anmelden.",
    },
    verification: {
      title: "E-Mail-Adresse bestätigen",
      intro: "Damit bestätigen Sie, dass Sie die E-Mails zu Ihrem Konto erhalten.",
      button: "Bestätigen",
      success: "Ihre E-Mail-Adresse ist bestätigt.",
    },
    approval: {
      title: "Neue E-Mail-Adresse freigeben",
      intro: (removes) =>
        `Wir senden dann einen Link an die neue Adresse. Wer ihn öffnet, beendet alle Anmeldungen${removes}; danach melden Sie sich mit der neuen Adresse an. Wenn Sie das nicht veranlasst haben, verlassen Sie diese Seite und ändern Sie Ihr Passwort.`,
      button: "Freigeben",
      success: (lifetime) =>
        `Ein Link an die neue Adresse ist unterwegs. Er gilt ${durationOf(lifetime)}. Bis er geöffnet wird, ändert sich nichts.`,
    },
    change: {
      title: "Neue E-Mail-Adresse bestätigen",
      intro: (removes) =>
        `Künftig melden Sie sich mit der neuen Adresse an. Das beendet alle bisherigen Anmeldungen${removes}. Ihr Passwort bleibt gleich.`,
      button: "E-Mail-Adresse ändern",
      success:
        "Ihre E-Mail-Adresse wurde geändert. Sie können sich jetzt damit anmelden; alle bisherigen Anmeldungen wurden beendet.",
    },
  },
  scripts: {
    show: "Anzeigen",
    hide: "Verbergen",
    wait: "Bitte warten …",
    missing: "Bitte füllen Sie dieses Feld aus.",
    tooShort: "Bitte geben Sie mindestens {count} Zeichen ein.",
    tooLong: "Bitte geben Sie höchstens {count} Zeichen ein.",
    notAnEmail: "Das ist keine gültige E-Mail-Adresse.",
    invisible: "Bitte geben Sie ein sichtbares Zeichen ein.",
    issue: "Bitte prüfen Sie diese Angabe.",
    askedPassword: "Bitte geben Sie Ihr aktuelles Passwort ein.",
    unreachable: "Der Dienst ist nicht erreichbar. Bitte versuchen Sie es in einer Minute noch einmal.",
    failed: "Das hat nicht funktioniert. Bitte versuchen Sie es in einer Minute noch einmal.",
    tooMany: "Zu viele Versuche. Bitte versuchen Sie es {when} noch einmal.",
    INVALID_CREDENTIALS: "E-Mail oder Passwort stimmt nicht.",
    CURRENT_PASSWORD_INCORRECT: "Das ist nicht Ihr aktuelles Passwort.",
    FACTOR_CODE_REJECTED:
      "Dieser Code stimmt nicht oder wurde schon benutzt. Bitte warten Sie auf den nächsten.",
    FACTOR_CODE_INCORRECT:
      "Dieser Code stimmt nicht oder wurde schon benutzt. Bitte warten Sie auf den nächsten.",
    FACTOR_CODE_INVALID:
      "Einer der Codes stimmt nicht oder ist nicht mehr gültig. Sie können noch einmal von vorn beginnen.",
    FACTOR_LOCKED: "Nach zu vielen falschen Codes wird nur noch ein Wiederherstellungscode akzeptiert.",
    FACTOR_NOT_FOUND: "Ihr zweiter Faktor wurde bereits entfernt.",
    LOGIN_CODE_INVALID: "Dieser Code stimmt nicht oder ist nicht mehr gültig.",
    LOGIN_REQUIRED: "Ihre Anmeldung ist abgelaufen. Bitte melden Sie sich erneut an.",
    EMAIL_NOT_VERIFIED:
      "Bitte öffnen Sie zuerst den Link in der E-Mail, mit der Sie Ihre Adresse bestätigen.",
    EMAIL_TAKEN:
      "Zu dieser E-Mail-Adresse gibt es schon ein Konto. Wenn es Ihres ist, melden Sie sich wie gewohnt an.",
    USERNAME_TAKEN: "Dieser Benutzername ist schon vergeben.",
    IDENTITY_ALREADY_USED: "Diese Anmeldung gehört bereits zu einem anderen Konto.",
    IDENTITY_NOT_FOUND: "Diese Anmeldung wurde bereits entfernt.",
    IDENTITY_REJECTED: "Sie wurden nicht angemeldet. Bitte versuchen Sie es noch einmal.",
    BEGUN_ELSEWHERE:
      "Sie haben diese Anmeldung in einem anderen Tab begonnen, oder sie ist abgelaufen. Bitte beginnen Sie hier noch einmal.",
    INACTIVE_USER: "Dieses Konto ist deaktiviert.",
    LAST_LOGIN: "Ohne diese Anmeldung könnten Sie sich nicht mehr anmelden.",
    PASSKEY_INVALID:
      "Das hat zu lange gedauert, oder Sie haben bereits zehn Passkeys. Bitte versuchen Sie es noch einmal.",
    PASSKEY_NOT_FOUND: "Dieser Passkey wurde bereits entfernt.",
    PASSKEY_REJECTED: "Dieser Passkey ist hier nicht bekannt.",
    PROVIDER_UNAVAILABLE:
      "Der andere Dienst ist nicht erreichbar. Bitte versuchen Sie es in einer Minute noch einmal.",
    RECENT_LOGIN_REQUIRED:
      "Bitte melden Sie sich ab und wieder an, und wiederholen Sie das innerhalb von fünf Minuten.",
    REGISTRATION_CLOSED: "Neue Konten gibt es nur auf Einladung.",
    STORAGE_BLOCKED:
      "Ihr Browser blockiert den Speicher dieser Seite, den diese Anmeldung benötigt. Bitte erlauben Sie ihn oder melden Sie sich anders an.",
    unsuitable_device: "Dieses Gerät kann keinen Passkey speichern oder nicht prüfen, ob Sie es sind.",
    already_registered: "Auf diesem Gerät gibt es schon einen Passkey für Ihr Konto.",
    request_pending:
      "Ihr Browser fragt noch nach einem anderen Passkey. Bitte beantworten oder schließen Sie diese Abfrage.",
    cancelled: "Es wurde kein Passkey verwendet. Sie können es noch einmal versuchen.",
    timed_out: "Es wurde kein Passkey verwendet. Sie können es noch einmal versuchen.",
    not_supported: "Dieser Browser oder dieses Gerät unterstützt keine Passkeys.",
    not_allowed_here: "Auf dieser Adresse können Ihre Passkeys nicht verwendet werden.",
    ended: "Ihre Anmeldung ist abgelaufen. Bitte melden Sie sich erneut an.",
    loggedOut: "Sie sind abgemeldet.",
    created: "Erstellt am {created}, zuletzt benutzt am {used}",
    createdOnly: "Erstellt am {created}, noch nicht benutzt",
    remove: "Entfernen",
    removeNamed: "{name} entfernen",
    none: "keine",
    on: "ein",
    off: "aus",
    passkeyCount: "{count} von höchstens 10",
    passkeyRemoved: "Der Passkey „{name}“ wurde entfernt.",
    passkeyCreated: "Der Passkey „{name}“ wurde erstellt.",
    identityRemoved: "Die Anmeldung mit {name} wurde entfernt.",
    identityAdded: "Die Anmeldung mit {name} wurde hinzugefügt.",
    usernameChanged: "Ihr Benutzername wurde geändert.",
    passwordChanged: "Ihr Passwort wurde geändert. Alle anderen Anmeldungen wurden beendet.",
    emailKept: "Ihre E-Mail-Adresse bleibt unverändert.",
    emailAsked: "Falls diese E-Mail-Adresse verwendet werden kann, ist ein Link unterwegs.",
    linkSent: "Ein neuer Link ist unterwegs.",
    registered: "Willkommen! Ihr Konto ist eingerichtet.",
    registeredMail:
      "Willkommen! Ihr Konto ist eingerichtet. Ein Link, mit dem Sie Ihre E-Mail-Adresse bestätigen, ist unterwegs.",
    passwordSet: "Ihr Passwort wurde geändert, und Sie sind angemeldet.",
    loggedOutEverywhere: "Sie sind überall abgemeldet.",
    deleted: "Ihr Konto wurde gelöscht.",
    late: "Das hat zu lange gedauert. Bitte melden Sie sich erneut an.",
    conflict: "Diese E-Mail-Adresse gehört inzwischen zu einem anderen Konto.",
    factorSince: "Eingeschaltet seit dem {created}. {count} von 8 Wiederherstellungscodes sind übrig.",
    factorCreated: "Ihr zweiter Faktor ist eingeschaltet. Alle anderen Anmeldungen wurden beendet.",
    factorRemoved: "Ihr zweiter Faktor wurde entfernt. Bitte melden Sie sich erneut an.",
    recoveryCodesMade: "Hier sind Ihre neuen Wiederherstellungscodes. Die bisherigen gelten nicht mehr.",
    copied: "Ihre Wiederherstellungscodes wurden kopiert.",
    qrCode: "QR-Code für Ihre App",
    recoveryFile: "wiederherstellungscodes.txt",
  },
};
