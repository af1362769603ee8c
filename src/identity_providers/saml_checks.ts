/** What node-saml leaves open (docs/reference/sign_in_providers.md#saml). */
import { ProviderError, type Stated, storable, textsIn } from './definition.ts';
import type { SamlProvider } from './members.ts';
import { allIn, childOf, childrenOf, type Element } from './xml.ts';

export const protocolNamespace = 'urn:oasis:names:tc:SAML:2.0:protocol';
const assertionNamespace = 'urn:oasis:names:tc:SAML:2.0:assertion';
export const signatureNamespace = 'http://www.w3.org/2000/09/xmldsig#';

const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const enveloped = `${signatureNamespace}enveloped-signature`;
const signatureMethods = [
  ...['256', '384', '512'].map((bits) => `http://www.w3.org/2001/04/xmldsig-more#rsa-sha${bits}`),
  'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1',
];
const digestMethods = ['http://www.w3.org/2001/04/xmlenc#sha256', 'http://www.w3.org/2001/04/xmlenc#sha512'];

/** What a message has to match. */
export interface Expected {
  callback: string;
  /** The name of the provider, and of this server. */
  entity_id: string;
  audience: string;
  /** The request that it answers; undefined if it answers none. */
  request_id: string | undefined;
  clock_skew_s: number;
}

function refuseUnless(holds: boolean, reason: string): void {
  if (!holds) throw new ProviderError(reason);
}

/** Every signature is of the element around it, of that whole element, and made with what counts today. */
export function checkSignature(signature: Element): void {
  const { parent } = signature;
  refuseUnless(
    parent !== undefined && ['Response', 'Assertion', 'LogoutRequest'].includes(parent.name),
    'place of a signature',
  );
  const info = childOf(signature, signatureNamespace, 'SignedInfo');
  const reference = info && childOf(info, signatureNamespace, 'Reference');
  if (!info || !reference) throw new ProviderError('signature without a reference');
  const algorithmOf = (element: Element, name: string) =>
    childOf(element, signatureNamespace, name)?.attributes.Algorithm ?? '';
  refuseUnless(signatureMethods.includes(algorithmOf(info, 'SignatureMethod')), 'signature method');
  refuseUnless(algorithmOf(info, 'CanonicalizationMethod') === exclusive, 'canonicalization');
  refuseUnless(digestMethods.includes(algorithmOf(reference, 'DigestMethod')), 'digest method');
  refuseUnless(reference.attributes.URI === `#${parent!.attributes.ID}`, 'reference');
  const transforms = childOf(reference, signatureNamespace, 'Transforms')?.children ?? [];
  const algorithms = transforms.map(({ attributes }) => attributes.Algorithm ?? '');
  refuseUnless(algorithms.length > 0 && algorithms.every((each) => [enveloped, exclusive].includes(each)), 'transform');
}

/** The signatures of a document, and that no element of it can be taken for another one. */
export function checkSignatures(root: Element): void {
  const all = allIn(root);
  const ids = all.flatMap(({ attributes: { ID, Id, id } }) => [ID, Id, id].filter((each) => each !== undefined));
  refuseUnless(new Set(ids).size === ids.length, 'id twice');
  const assertions = all.filter(({ name }) => name === 'Assertion' || name === 'EncryptedAssertion');
  refuseUnless(assertions.length === 1, 'number of assertions');
  const [assertion] = assertions;
  refuseUnless(assertion === root || assertion?.parent === root, 'place of the assertion');
  refuseUnless(assertion?.namespace === assertionNamespace, 'namespace of the assertion');
  for (const signature of all.filter(({ name }) => name === 'Signature')) checkSignature(signature);
}

/** The message around the assertion, whether it is signed or not: it can only be refused for it. */
export function checkResponse(root: Element, { callback, entity_id, request_id }: Expected): void {
  refuseUnless(root.namespace === protocolNamespace && root.name === 'Response', 'no response');
  const { Destination, InResponseTo } = root.attributes;
  refuseUnless(Destination === undefined || Destination === callback, 'Destination');
  refuseUnless(InResponseTo === request_id, 'InResponseTo of the response');
  const issuer = childOf(root, assertionNamespace, 'Issuer');
  refuseUnless(issuer === undefined || issuer.text.trim() === entity_id, 'Issuer of the response');
  const status = childOf(root, protocolNamespace, 'Status');
  const code = status && childOf(status, protocolNamespace, 'StatusCode');
  refuseUnless(code?.attributes.Value === 'urn:oasis:names:tc:SAML:2.0:status:Success', 'Status');
}

/** Whether the present is within the times of an element. */
function isNow({ attributes: { NotBefore, NotOnOrAfter } }: Element, skew_s: number): boolean {
  const now_ms = Date.now();
  const isPast = (time: string) => Date.parse(time) <= now_ms + skew_s * 1000;
  const isAhead = (time: string) => Date.parse(time) > now_ms - skew_s * 1000;
  return (NotBefore === undefined || isPast(NotBefore)) && (NotOnOrAfter === undefined || isAhead(NotOnOrAfter));
}

function isConfirmed(confirmation: Element, { callback, request_id, clock_skew_s }: Expected): boolean {
  const data = childOf(confirmation, assertionNamespace, 'SubjectConfirmationData');
  if (confirmation.attributes.Method !== 'urn:oasis:names:tc:SAML:2.0:cm:bearer' || !data) return false;
  const { Recipient, InResponseTo, NotOnOrAfter } = data.attributes;
  return (
    Recipient === callback && InResponseTo === request_id && NotOnOrAfter !== undefined && isNow(data, clock_skew_s)
  );
}

/** A request to sign somebody out. @returns its id, and until when it counts */
export function checkLogout(
  root: Element,
  { callback, entity_id, clock_skew_s }: Pick<Expected, 'callback' | 'entity_id' | 'clock_skew_s'>,
): { id: string; ends_at: Date } {
  refuseUnless(root.namespace === protocolNamespace && root.name === 'LogoutRequest', 'no logout');
  const { Destination, ID, IssueInstant = '' } = root.attributes;
  refuseUnless(Destination === undefined || Destination === callback, 'Destination');
  refuseUnless(childOf(root, assertionNamespace, 'Issuer')?.text.trim() === entity_id, 'Issuer');
  refuseUnless(isNow(root, clock_skew_s), 'times');
  const issued_ms = Date.parse(IssueInstant);
  const age_ms = Date.now() - issued_ms;
  const [least, most] = [-clock_skew_s * 1000, (clock_skew_s + logout_s) * 1000];
  refuseUnless(age_ms >= least && age_ms <= most, 'IssueInstant');
  const id = storable(ID);
  if (id === undefined) throw new ProviderError('no id');
  return { id, ends_at: new Date(issued_ms + most) };
}

/** For how long a request to sign somebody out counts. */
const logout_s = 300;

/** An assertion whose content is signed. @returns until when it could be shown again */
export function checkAssertion(assertion: Element, expected: Expected): Date {
  const { entity_id, audience, clock_skew_s } = expected;
  refuseUnless(assertion.namespace === assertionNamespace && assertion.name === 'Assertion', 'no assertion');
  refuseUnless(childOf(assertion, assertionNamespace, 'Issuer')?.text.trim() === entity_id, 'Issuer');
  refuseUnless(storable(assertion.attributes.ID) !== undefined, 'no id');
  const subject = childOf(assertion, assertionNamespace, 'Subject');
  const confirmations = subject ? childrenOf(subject, assertionNamespace, 'SubjectConfirmation') : [];
  const confirmed = confirmations.filter((each) => isConfirmed(each, expected));
  refuseUnless(confirmed.length > 0, 'SubjectConfirmation');
  const conditions = childOf(assertion, assertionNamespace, 'Conditions');
  refuseUnless(conditions !== undefined && isNow(conditions, clock_skew_s), 'Conditions');
  const restrictions = childrenOf(conditions!, assertionNamespace, 'AudienceRestriction');
  const isOurs = (restriction: Element) =>
    childrenOf(restriction, assertionNamespace, 'Audience').some(({ text }) => text.trim() === audience);
  refuseUnless(restrictions.length > 0 && restrictions.every(isOurs), 'Audience');
  const statements = childrenOf(assertion, assertionNamespace, 'AuthnStatement');
  const ends = statements.map(({ attributes }) => attributes.SessionNotOnOrAfter).filter((each) => each !== undefined);
  refuseUnless(
    ends.every((end) => Date.parse(end) > Date.now() - clock_skew_s * 1000),
    'SessionNotOnOrAfter',
  );
  const until = confirmed.map(
    (each) => childOf(each, assertionNamespace, 'SubjectConfirmationData')!.attributes.NotOnOrAfter!,
  );
  return new Date(Math.max(...until.map((each) => Date.parse(each))) + clock_skew_s * 1000);
}

const claimsAt = (name: string) => `http://schemas.xmlsoap.org/ws/2005/05/identity/claims/${name}`;
const usualNames = {
  email: ['email', 'mail', 'emailAddress', claimsAt('emailaddress'), 'urn:oid:0.9.2342.19200300.100.1.3'],
  name: [
    'name',
    'displayName',
    claimsAt('name'),
    'http://schemas.microsoft.com/identity/claims/displayname',
    'urn:oid:2.16.840.1.113730.3.1.241',
  ],
  nickname: ['nickname', 'username', 'uid', 'urn:oid:0.9.2342.19200300.100.1.1'],
  first_name: ['first_name', 'firstName', 'firstname', 'givenName', claimsAt('givenname'), 'urn:oid:2.5.4.42'],
  last_name: ['last_name', 'lastName', 'lastname', 'sn', 'surname', claimsAt('surname'), 'urn:oid:2.5.4.4'],
} as const;

/** The values of the attributes of an assertion, by name. */
function attributesOf(assertion: Element): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const statement of childrenOf(assertion, assertionNamespace, 'AttributeStatement'))
    for (const attribute of childrenOf(statement, assertionNamespace, 'Attribute')) {
      const values = childrenOf(attribute, assertionNamespace, 'AttributeValue').map(({ text }) => text.trim());
      const { Name = '' } = attribute.attributes;
      found.set(Name, [...(found.get(Name) ?? []), ...values]);
    }
  return found;
}

const transient = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';

/** Who an assertion identifies. @throws ProviderError for nobody, and for a name that is another one the next time */
function uidOf(provider: SamlProvider, assertion: Element, attributes: ReadonlyMap<string, string[]>): string {
  if (provider.uid_attribute !== undefined) {
    const [uid, ...more] = attributes.get(provider.uid_attribute) ?? [];
    if (storable(uid) === undefined || more.length > 0) throw new ProviderError('uid_attribute');
    return uid!;
  }
  const subject = childOf(assertion, assertionNamespace, 'Subject')!;
  const name = childOf(subject, assertionNamespace, 'NameID');
  refuseUnless(name?.attributes.Format !== transient, 'transient NameID');
  const uid = storable(name?.text.trim());
  if (uid === undefined || name!.children.length > 0) throw new ProviderError('NameID');
  return uid;
}

/** What an assertion states of a person. @param assertion as it was signed */
export function statedIn(provider: SamlProvider, assertion: Element): Stated {
  const attributes = attributesOf(assertion);
  const first = (member: keyof typeof usualNames): string | undefined => {
    const names = [...(provider.attribute_statements[member] ?? []), ...usualNames[member]];
    return names.map((name) => storable(attributes.get(name)?.[0])).find((value) => value !== undefined);
  };
  const email = first('email');
  const parts = [first('first_name'), first('last_name')].filter((part) => part !== undefined);
  const contexts = allIn(assertion).filter(({ name }) => name === 'AuthnContextClassRef');
  return {
    uid: uidOf(provider, assertion, attributes),
    username: first('nickname'),
    email,
    has_verified_email: provider.trusts_email && email !== undefined,
    name: first('name') ?? (parts.length > 0 ? parts.join(' ') : undefined),
    groups: textsIn(attributes.get(provider.groups_attribute)),
    methods: contexts.map(({ text }) => text.trim()),
  };
}
