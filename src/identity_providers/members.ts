/** The members of each type of provider in the file, declared once: what is read, and what the documentation lists. */
import {
  address,
  certificate,
  certificates,
  falseOrTexts,
  file,
  flag,
  hostsAndPorts,
  type Kind,
  numberFrom,
  oneOf,
  privateKey,
  secret,
  someOf,
  text,
  texts,
  textsByName,
  textsFor,
} from './kinds.ts';

/** A member of a provider. */
export interface Member<T> {
  kind: Kind<Exclude<T, undefined>>;
  about: string;
  is_required: boolean;
  /** What counts if it is left out. */
  fallback: T | undefined;
  /** What the documentation says of that, if it is not the value itself. */
  usually: string | undefined;
}

const required = <T>(kind: Kind<T>, about: string): Member<T> => ({
  kind: kind as Member<T>['kind'],
  about,
  is_required: true,
  fallback: undefined,
  usually: undefined,
});
const optional = <T>(kind: Kind<T>, about: string, usually?: string): Member<T | undefined> => ({
  kind: kind as Kind<Exclude<T, undefined>>,
  about,
  is_required: false,
  fallback: undefined,
  usually,
});
const usually = <T>(kind: Kind<T>, fallback: T, about: string): Member<T> => ({
  kind: kind as Member<T>['kind'],
  about,
  is_required: false,
  fallback,
  usually: undefined,
});

/** What a set of members is, read. */
export type Read<M> = { readonly [name in keyof M]: M[name] extends Member<infer T> ? T : never };

/** Members of all types. */
const common = (blocks: boolean) => ({
  label: optional(text, 'The text of its button', 'the name'),
  allow_sign_up: usually(flag, true, 'Whether people without an account get one'),
  block_auto_created: usually(flag, blocks, 'Whether such an account waits for an administrator'),
  auto_link_user: usually(
    flag,
    false,
    'Whether a person gets the account whose confirmed address is the address that the provider has verified',
  ),
  external: usually(flag, false, 'Whether accounts that it makes are external'),
  sync_profile: usually(
    someOf('name', 'email'),
    ['name'],
    'What of the profile follows the provider at each sign-in; an address only if it is verified',
  ),
  trust_second_factor: usually(
    falseOrTexts,
    false,
    'The methods of signing in there after which no second factor is asked for here: values of `amr` or `acr`, or of `AuthnContextClassRef`',
  ),
});

const ofGroups = {
  required_groups: usually(texts, [], 'Groups of which a person needs one to sign in; empty for anyone'),
  admin_groups: usually(
    texts,
    [],
    'Groups whose people are administrators, and nobody else who signs in here; empty changes nothing',
  ),
  external_groups: usually(texts, [], 'Groups whose people are external'),
};

const trustsEmail = {
  trusts_email: usually(flag, false, 'Whether the addresses that it states count as verified'),
};

const oidcMembers = {
  issuer: required(address, 'The issuer, as its discovery document and its tokens state it'),
  client_id: required(text, 'The name of this server at the provider'),
  client_secret: optional(secret, 'The secret for it', 'none: a public client'),
  client_auth_method: usually(oneOf('basic', 'post'), 'basic', 'How the secret is sent'),
  scopes: usually(texts, ['openid', 'profile', 'email'], 'The scopes that are asked for'),
  uid_field: usually(
    text,
    'sub',
    'The claim that identifies a person. Any other than `sub` is one that people may change at many providers',
  ),
  args: usually(textsByName, {}, 'Parameters that are added to the authorization request'),
  groups_claim: usually(text, 'groups', 'The claim with groups, of the ID token or else of userinfo'),
  ...ofGroups,
  jwks_uri: optional(address, 'The address of the keys instead of the discovered one'),
  ...common(true),
};

const samlMembers = {
  idp_metadata_url: optional(address, 'The address of the metadata of the provider'),
  idp_sso_url: optional(address, 'The address of its single sign-on, without metadata'),
  idp_cert: optional(certificates, 'Its certificate, without metadata; several while it changes'),
  idp_entity_id: optional(text, 'Its name', 'as its metadata states it'),
  sp_entity_id: optional(text, 'The name of this server', 'COPPICE_URL'),
  uid_attribute: optional(text, 'The attribute that identifies a person', 'the NameID'),
  attribute_statements: usually(
    textsFor('email', 'name', 'nickname', 'first_name', 'last_name'),
    {},
    'The names of attributes, before the usual ones',
  ),
  groups_attribute: usually(text, 'groups', 'The attribute with groups'),
  ...ofGroups,
  ...trustsEmail,
  want_assertions_signed: usually(flag, true, 'Whether the assertion itself has to be signed, not only the response'),
  allow_idp_initiated: usually(flag, false, 'Whether a sign-in may begin at the provider'),
  private_key: optional(privateKey, 'Signs requests and decrypts assertions'),
  certificate: optional(certificate, 'The certificate of that key'),
  clock_skew: usually(numberFrom(0, 300), 60, 'How far clocks may differ, in seconds'),
  ...common(true),
};

const ldapMembers = {
  hosts: optional(hostsAndPorts, 'The servers, tried in this order'),
  host: optional(text, 'The server, where there is one'),
  port: optional(numberFrom(1, 65_535), 'Its port', '636 with `simple_tls`, otherwise 389'),
  encryption: required(oneOf('simple_tls', 'start_tls', 'plain'), '`plain` sends passwords as they are: the log warns'),
  verify_certificates: usually(flag, true, 'Whether the certificate of the server has to be valid'),
  ca_file: optional(file, 'A file with the certificates of its authority'),
  bind_dn: optional(text, 'Who searches', 'nobody: an anonymous search'),
  password: optional(secret, 'The password of that'),
  base: required(text, 'Where people are'),
  user_filter: optional(text, 'A filter that people have to pass, in brackets'),
  uid: usually(text, 'uid', 'The attribute with the name that people type'),
  attributes: usually(
    textsFor('username', 'email', 'name'),
    {},
    'The names of attributes; otherwise `uid`, `mail` and `cn`',
  ),
  group_base: optional(text, 'Where groups are'),
  admin_group: optional(text, 'The cn of the group whose people are administrators, and nobody else who signs in here'),
  external_groups: usually(texts, [], 'The cns of groups whose people are external'),
  active_directory: usually(
    flag,
    false,
    'Whether disabled accounts and groups in groups are read as Active Directory has them',
  ),
  ...trustsEmail,
  timeout: usually(numberFrom(1, 60), 10, 'The time for a whole sign-in, in seconds'),
  lowercase_usernames: usually(flag, false, 'Whether usernames are made of small letters'),
  ...common(false),
};

/** The types of providers, with their members. */
export const memberSets = { oidc: oidcMembers, saml: samlMembers, ldap: ldapMembers };
export type ProviderType = keyof typeof memberSets;

interface Named<T extends ProviderType> {
  name: string;
  type: T;
  label: string;
}
export type OidcProvider = Named<'oidc'> & Omit<Read<typeof oidcMembers>, 'label'>;
export type SamlProvider = Named<'saml'> & Omit<Read<typeof samlMembers>, 'label'>;
export type LdapProvider = Named<'ldap'> & Omit<Read<typeof ldapMembers>, 'label'>;
export type Provider = OidcProvider | SamlProvider | LdapProvider;
