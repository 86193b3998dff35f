/**
 * The sentences for operators that have a code, by this code, and the texts of figures, such as `noun.alert`.
 * `{{name}}` stands for a figure. A sentence with a count has a form for one (`_one`) and a form for all other counts
 * (`_other`). The console has the same sentences in its other languages.
 */
export const OPERATOR_MESSAGES = {
  "part.database": "The database is unavailable: charges wait in the journal.",
  "part.database.damaged": "The database is damaged: stop the gateway and run restore --force with a backup.",
  "part.journal": "The disk refuses charges: requests are refused.",
  "part.objectStorage": "The object storage is unavailable: pictures wait on the local disk.",
  "part.limits": "Redis is unavailable: each process counts limits by itself.",
  "part.overload": "This server refuses requests because it lacks memory, disk or time.",
  "part.backlog_one": "{{count}} charge waits for the ledger.",
  "part.backlog_other": "{{count}} charges wait for the ledger.",
  "part.refusedEntries_one": "{{count}} charge was refused by the database.",
  "part.refusedEntries_other": "{{count}} charges were refused by the database.",
  "part.quarantine_one": "{{count}} journal file was not understood.",
  "part.quarantine_other": "{{count}} journal files were not understood.",
  "part.proxy":
    "A request from {{peer}} names another client in X-Forwarded-For, which is ignored: sign-ins and connections of all clients behind that proxy count as one. Name your proxies in TRUSTED_PROXIES.",
  "part.ledger_one": "The last verification of the ledger found {{count}} difference.",
  "part.ledger_other": "The last verification of the ledger found {{count}} differences.",
  "part.leases_one": "{{count}} lease is in doubt: a process is gone without its journal posted.",
  "part.leases_other": "{{count}} leases are in doubt: a process is gone without its journal posted.",
  "part.configuration": "The newest configuration was refused, and the one before it runs: the log says why.",
  "part.channels": "Channels that cannot be used: {{channels}}.",

  "cause.ejection": "{{target}} is out of service: {{reason}}.",
  "cause.model": "No target of {{model}} can be called: all of them are out of service.",
  "cause.calls":
    "Calls to {{channel}} for {{model}} fail: {{failed}} of {{all}} in the last {{minutes}} min, most with {{outcome}}.",
  "cause.slow": "{{channel}} takes {{seconds}} s to answer, usually {{usual}} s.",
  "cause.slow.unknown": "{{channel}} takes {{seconds}} s to answer.",
  "cause.requests":
    "Requests of {{organization}} fail: {{failed}} of {{all}} in the last {{minutes}} min, most with {{code}}.",
  "cause.price": "{{model}} has no price in {{currency}} for {{organization}}: its requests are refused.",
  "cause.budget.near": "{{owner}} has spent {{percent}} % of its budget: {{spent}} of {{amount}} {{period}}.",
  "cause.budget.spent":
    "{{owner}} has spent {{percent}} % of its budget: {{spent}} of {{amount}} {{period}}. Its requests are refused.",
  "cause.budget.refusing":
    "{{owner}} has spent {{percent}} % of its budget: {{spent}} of {{amount}} {{period}}. Requests that need more than is left are refused.",
  "cause.notices.mail_one": "{{count}} mail of an alert was not delivered.",
  "cause.notices.mail_other": "{{count}} mails of alerts were not delivered.",
  "cause.notices.webhook_one": "{{count}} webhook message of an alert was not delivered.",
  "cause.notices.webhook_other": "{{count}} webhook messages of alerts were not delivered.",

  "finding.budget":
    "{{owner}} has spent at least {{percent}} % of its budget: {{spent}} of {{amount}} {{period}}.",
  "finding.budget.spent":
    "{{owner}} has spent all of its budget: {{spent}} of {{amount}} {{period}}. Its requests are refused.",
  "finding.requests": "Requests fail: {{failed}} of {{all}} ({{share}} %) within {{minutes}} min.",
  "finding.ejection": "{{target}} has been out of service since {{since}}: {{reason}}.",

  "period.total": "in all",
  "period.day": "this day",
  "period.month": "this month",
  "reason.account": "the vendor refuses the credential, its balance or its access to the model",
  "reason.limited": "the vendor's limits are reached",
  "reason.overload": "its calls fail in a row",

  "test.accepted": "The vendor accepts the address and the credential.",
  "test.timeout":
    "No response within ten seconds: check the address, and that firewalls let this machine out.",
  "test.balance":
    "The vendor knows the credential but the account has no balance or quota{{status}}: check the billing there.",
  "test.credential":
    "The vendor refuses the credential{{status}}: check that it is complete, of this vendor and region, and allowed to call models.",
  "test.limited": "The vendor accepts the credential but limits calls just now{{status}}: try again later.",
  "test.overloaded": "The vendor has trouble of its own just now{{status}}: try again later.",
  "test.rejected":
    "The address responds but refuses the request{{status}}: check the address and the settings.",
  "test.foreign":
    "The address responds, but not as this vendor does{{status}}: check the address, its path included.",
  "test.address":
    "The address leads to an address that is not allowed: link-local and metadata addresses never are, private ones where an owner, the configuration file or `server.allowed_networks` names them.",
  "test.noHost": "No such host: check the address.",
  "test.lookup": "The host's name could not be looked up: check the address and this machine's name server.",
  "test.refused": "Nothing listens at the address: check its host and port.",
  "test.unreachable":
    "The host cannot be reached: check the address and that firewalls let this machine out.",
  "test.certificate.expired": "The server's certificate has expired.",
  "test.certificate.host": "The server's certificate is for another host: check the address.",
  "test.certificate.selfSigned":
    "The server's certificate is self-signed: give it one that this machine trusts.",
  "test.certificate.untrusted": "The server's certificate is not trusted by this machine.",
  "test.noResponse": "No response: check the address and that firewalls let this machine out.",
  "vendorModels.none":
    "The gateway cannot read a list of this vendor's models: type the name as the vendor's documents have it.",
  "vendorModels.offered_one": "The vendor offers {{count}} model.",
  "vendorModels.offered_other": "The vendor offers {{count}} models.",

  "refusal.key": "The key is disabled or has expired, or its organization is disabled.",
  "refusal.scope": "The key lacks the scope for this type of models.",
  "refusal.retired": "The model has been retired.",
  "refusal.keyModels": "The key may not call this model.",
  "refusal.organizationModels": "The model is not enabled for the organization.",
  "refusal.price": "The model has no price in the organization's currency.",
  "refusal.noTarget": "No channel serves the model.",
  "refusal.unusable": "No channel of the route can be used: the page of each channel says why.",

  "price.stillUnpriced":
    'with this row alone "{{model}}" still has no price for {{organizations}}, and calls are refused; name prices of input and output, or force it',
  "price.loses":
    '"{{model}}" would have no price of {{cells}} for {{organizations}}, and calls would be refused; set another price first, or force it',

  "chain.unwritten": "is not in the chain: no gateway has written it",
  "chain.broken": "does not follow the row before: one was changed or removed",
  "chain.changed": "was changed",
  "chain.head": "the last row was removed, or the head was changed",
  "chain.known": "the known head is not in the chain",

  "mail.sent": "The mail server has accepted the mail.",
  "mail.notConfigured":
    "No mail server is configured: set `mail.url` and `mail.from` in the configuration file.",
  "mail.refused": "The mail could not be sent: {{detail}}",

  "delivery.status": "status {{status}}",
  "delivery.noAnswer": "no answer: {{detail}}",
  "delivery.notAllowed": "the address is not allowed",
  "delivery.removed": "its endpoint or job was removed",
  "delivery.over": "over before it was sent",
  "delivery.recipient":
    "not sent: the address is neither of a member of the organization nor in a domain of `mail.allowed_domains`",
  "delivery.mail": "not sent: {{detail}}",

  "error.missing": 'there is no {{noun}} "{{id}}"',
  "error.taken": 'there is already a {{noun}} "{{id}}"',
  "noun.alert": "alert",
  "noun.budget": "budget",
  "noun.channel": "channel",
  "noun.model": "model",
  "noun.job": "job",
  "noun.key": "key",
  "noun.token": "token",
  "noun.member": "member",
  "noun.price row": "price row",
  "noun.session": "session",
  "noun.delivery": "delivery",
  "noun.webhook": "webhook",
  "error.alerts.most": "there are {{most}} alerts of the organization already; remove one",
  "error.alerts.installation": "a rule of the installation needs a member of all organizations",
  "error.recipient":
    "{{field}} has {{email}}: mails go to members, and to the domains of `mail.allowed_domains`",
  "error.channel.catalogue": 'the channel "{{id}}" is a part of the catalogue: add one of your own',
  "error.channel.secretAgain": "{{field}} must be given again when an address changes",
  "error.channel.address":
    "{{field}} leads to an address that is not allowed: link-local and metadata addresses never are, private ones where an owner, the configuration file or `server.allowed_networks` names them",
  "error.channel.masked": "{{field}} is masked, and not known here: write the secret",
  "error.channel.unusable": "the channel cannot be used: see its problems",
  "error.inFile": 'the {{noun}} "{{id}}" is in the configuration file: change it there',
  "error.inEnvironment": 'the {{noun}} "{{id}}" comes from the environment: change its variable there',
  "error.changed": "it was changed meanwhile: read it again",
  "error.version": "it has changed since version {{version}}: read it again and repeat the change",
  "error.job.ended": "the job has ended already: it is {{status}}",
  "error.key.secret": "this secret is or was that of a key: choose another one",
  "error.key.most":
    "the organization has {{most}} keys; remove some, or have a member of all organizations add this one",
  "error.expired": "expiresAt lies in the past",
  "error.token.longest": "expiresAt is more than a year ahead; rotate tokens sooner",
  "error.refund.nothing": 'nothing is left to refund of "{{id}}"',
  "error.refund.zero": "amount must be more than nothing",
  "error.refund.most": 'only {{left}} of "{{id}}" is left to refund',
  "error.member.taken": "there is already a member with this name or address",
  "error.member.provider":
    "this member signs in at the identity provider; only an owner of all organizations can give a password",
  "error.member.email": "another member has this e-mail address",
  "error.member.lastOwner": "this is the last owner of the installation; make another one first",
  "error.model.shipped": 'the model "{{id}}" is shipped: disable it to keep it from callers',
  "error.passwordFirst": "change your password first",
  "error.role": "this needs the role {{role}}; yours is {{own}}",
  "error.reach": "this needs a member of all organizations",
  "error.organization.taken": 'there is already an organization "{{id}}"',
  "error.reach.field": "{{field}} needs a member of all organizations",
  "error.range.order": "to must be later than from",
  "error.correction.both": "a correction names prices of input and of output",
  "error.price.ended": 'the price row "{{id}}" has already ended',
  "error.price.currency": "the organization pays in {{currency}}, so its prices must be in {{currency}}",
  "error.price.image": '"{{model}}" makes images: name the price of one image, and none of tokens',
  "error.price.tiers": "perImage is empty: name a price for {{tiers}}",
  "error.price.empty": "{{field}} is empty",
  "error.price.text": '"{{model}}" is a text model: name prices of a million tokens and none of images',
  "error.price.long": "longContext names no price of a million tokens",
  "error.price.short": "the row has no price of {{category}} tokens for shorter requests: name it, too",
  "error.price.past": "{{field}} lies in the past: what was billed does not change",
  "error.route.twice": '"{{target}}" is named twice',
  "error.route.default": "the default route needs a member of all organizations",
  "error.route.target": '"{{model}}" has no such target: adding one needs a member of all organizations',
  "error.route.none": '"{{organization}}" has no route of its own for "{{model}}"',
  "error.give": "you cannot give more than you have yourself",
  "error.others": "this is another member's",
  "error.attempts_one": "too many sign-ins failed; try again in {{count}} second",
  "error.attempts_other": "too many sign-ins failed; try again in {{count}} seconds",
  "error.password.wrong": "the current password is wrong",
  "error.password.same": "the new password is the current one",
  "error.password.changed": "the password was changed just now; sign in again",
  "error.account.changed": "the account was changed just now; sign in again",
  "error.signInAgain": "sign in again",
  "error.signIn": "the name or the password is wrong",
  "error.code.needed": "this account needs a code",
  "error.code.unopened":
    "no master key here opens the secret of your authenticator: use a recovery code, or have GATEWAY_MASTER_KEY set as it was",
  "error.membersOnly": "this is for members who are signed in",
  "error.give.role": "your own role is {{own}}, so you cannot give {{role}}",
  "error.give.organizations": "you can give access to your own organizations only",
  "error.totp.on": "TOTP is on; turn it off first",
  "error.totp.begin": "begin with a new secret",
  "error.code.clock": "the code is wrong; is the clock right?",
  "error.code.wrong": "the code is wrong or was used already; wait for the next one",
  "error.range.from": "from must be before to",
  "error.range.longest": "the range is at most 400 days",
  "error.range.hours": "by the hour the range is at most 31 days",
  "error.webhook.installation": "an endpoint of the installation needs a member of all organizations",
  "error.webhook.routingKey": "routingKey is needed with the format pagerduty, and with no other",
  "error.webhook.url":
    "url is missing: only an organization's signed messages may go to the addresses of jobs",
  "error.webhook.address":
    "url must lead to a public address, or to one of `server.allowed_networks`, and never to a link-local or metadata address",
  "error.webhook.taken": "this endpoint is there already; rotate it to change its secret",
  "error.webhook.most": "there are {{most}} endpoints already; remove one",
  "error.playgroundKey": "there is no key with this id that you administer",
  "error.signInFirst": "sign in first",
  "error.busy.reports": "too many reports run at the same time: wait until one has ended",
  "error.busy.exports": "too many exports run at the same time: wait until one has ended",
} as const;
