/** Reads the file of COPPICE_SIGN_IN: who signs people in (docs/reference/sign_in_providers.md#the-file). All problems are reported together. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { CORE_SCHEMA, load } from 'js-yaml';
import { type Reading, Unusable } from './kinds.ts';
import {
  type LdapProvider,
  type Member,
  memberSets,
  type OidcProvider,
  type Provider,
  type ProviderType,
  type SamlProvider,
} from './members.ts';

/** How people sign in besides their passwords here. */
export interface SignInFile {
  providers: readonly Provider[];
  /** Whether administrators can sign in with their password where nobody else can. */
  administrators_by_password: boolean;
  /** The provider whose identities SCIM makes. */
  scim_provider: string | undefined;
  /** What is allowed and unwise, in sentences. */
  warnings: readonly string[];
}

/** The file that nobody has written. */
export const noSignInFile: SignInFile = {
  providers: [],
  administrators_by_password: true,
  scim_provider: undefined,
  warnings: [],
};

const mostProviders = 20;
const isName = (value: unknown): value is string => typeof value === 'string' && /^[a-z0-9_-]{1,40}$/.test(value);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const types = Object.keys(memberSets) as ProviderType[];

/** What of a file cannot be used, collected while it is read. */
class Problems {
  readonly all: string[] = [];
  add(place: string, text: string): void {
    this.all.push(place === '' ? text : `${place} ${text}`);
  }
}

/** The members of a provider, with what counts for those that are left out. */
function membersOf(
  given: Record<string, unknown>,
  type: ProviderType,
  { place, reading, problems }: { place: string; reading: Reading; problems: Problems },
): Record<string, unknown> {
  const members: Record<string, Member<unknown>> = memberSets[type];
  for (const name of Object.keys(given))
    if (!Object.hasOwn(members, name) && name !== 'name' && name !== 'type')
      problems.add(`${place}: ${name}`, `is no member of a provider of the type ${type}.`);
  return Object.fromEntries(
    Object.entries(members).map(([name, { kind, is_required, fallback }]) => {
      const value = given[name];
      if (value === undefined || value === null) {
        if (is_required) problems.add(`${place}: ${name}`, 'is missing.');
        return [name, fallback];
      }
      const read = kind.read(value, reading);
      if (!(read instanceof Unusable)) return [name, read];
      problems.add(`${place}: ${name}`, read.text);
      return [name, fallback];
    }),
  );
}

/** What is wrong with members that are right each for itself. Members that could not be read are missing here, so it counts what was given. */
const together: { [T in ProviderType]: (given: Record<string, unknown>) => string[] } = {
  oidc: ({ scopes }) =>
    Array.isArray(scopes) && !scopes.includes('openid') ? ['scopes must have openid among them.'] : [],
  saml: (given) => {
    const has = (name: string) => given[name] !== undefined;
    const problems = has('idp_metadata_url')
      ? ['idp_sso_url', 'idp_cert']
          .filter(has)
          .map((name) => `${name} comes from the metadata of idp_metadata_url; keep one.`)
      : ['idp_sso_url', 'idp_cert', 'idp_entity_id'].filter((name) => !has(name)).map((name) => `${name} is missing.`);
    if (has('private_key') !== has('certificate')) problems.push('private_key and certificate belong together.');
    return problems;
  },
  ldap: (given) => {
    const has = (name: string) => given[name] !== undefined;
    return [
      ...(has('hosts') === has('host') ? ['hosts or host must say where the directory is, one of them.'] : []),
      ...(has('port') && !has('host') ? ['port belongs to host.'] : []),
      ...(has('bind_dn') === has('password') ? [] : ['bind_dn and password belong together.']),
      ...['admin_group', 'external_groups']
        .filter((name) => has(name) && !has('group_base'))
        .map((name) => `${name} needs group_base.`),
    ];
  },
};

/** What the operator should know of a provider that can be used. */
function warningsOf(provider: Provider): string[] {
  const at = `COPPICE_SIGN_IN: ${provider.name}:`;
  if (provider.type === 'oidc' && provider.uid_field !== 'sub')
    return [
      `${at} uid_field is ${provider.uid_field}. At many providers people can change it, and so take the account of somebody else; sub is safe.`,
    ];
  if (provider.type === 'ldap' && provider.encryption === 'plain')
    return [`${at} encryption is plain: passwords pass the network as they are.`];
  if (provider.type === 'ldap' && !provider.verify_certificates)
    return [`${at} verify_certificates is false: who is between this server and the directory learns the passwords.`];
  return [];
}

/** A provider with the members that follow from others. */
function completed(provider: Provider): Provider {
  if (provider.type !== 'ldap' || provider.hosts !== undefined) return provider;
  const port = provider.port ?? (provider.encryption === 'simple_tls' ? 636 : 389);
  return { ...provider, hosts: [`${provider.host}:${port}`] };
}

function readProvider(given: unknown, index: number, reading: Reading, problems: Problems): Provider | undefined {
  const named = isObject(given) && isName(given.name) ? ` (${given.name})` : '';
  const place = `providers[${index}]${named}`;
  if (!isObject(given)) return void problems.add(place, 'must be an object.');
  if (!isName(given.name))
    problems.add(`${place}: name`, 'must have 1 to 40 small letters, digits, hyphens and underscores.');
  const type = types.find((each) => each === given.type);
  if (type === undefined) return void problems.add(`${place}: type`, `must be one of ${types.join(', ')}.`);
  const members = membersOf(given, type, { place, reading, problems });
  for (const problem of together[type](given)) problems.add(`${place}:`, problem);
  const name = isName(given.name) ? given.name : '';
  const provider = { ...members, name, type, label: members.label ?? name };
  return completed(provider as OidcProvider | SamlProvider | LdapProvider);
}

function readProviders(given: unknown, reading: Reading, problems: Problems): Provider[] {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given) || given.length > mostProviders) {
    problems.add('providers', `must be a list of at most ${mostProviders}.`);
    return [];
  }
  const providers = given
    .map((each, index) => readProvider(each, index, reading, problems))
    .filter((each) => each !== undefined);
  const names = providers.map(({ name }) => name).filter((name) => name !== '');
  for (const name of new Set(names.filter((each, index) => names.indexOf(each) !== index)))
    problems.add('providers', `has the name ${name} twice.`);
  return providers;
}

/** An object at the top with one member. */
function onlyMember(given: unknown, place: string, name: string, problems: Problems): unknown {
  if (given === undefined || given === null) return undefined;
  if (!isObject(given)) return void problems.add(place, `must be an object with ${name}.`);
  for (const unknown of Object.keys(given).filter((each) => each !== name))
    problems.add(`${place}: ${unknown}`, 'is no member of it.');
  return given[name];
}

function readContent(content: Record<string, unknown>, reading: Reading, problems: Problems): SignInFile {
  const { providers: given, password, scim, ...others } = content;
  for (const name of Object.keys(others)) problems.add(name, 'is no member of the file.');
  const providers = readProviders(given, reading, problems);
  const administrators = onlyMember(password, 'password', 'administrators', problems) ?? true;
  if (typeof administrators !== 'boolean') problems.add('password: administrators', 'must be true or false.');
  const scimProvider = onlyMember(scim, 'scim', 'provider', problems);
  if (scimProvider !== undefined && !providers.some(({ name }) => name === scimProvider))
    problems.add('scim: provider', 'must be the name of a provider in the file.');
  return {
    providers,
    administrators_by_password: administrators !== false,
    scim_provider: scimProvider as string | undefined,
    warnings: providers.flatMap(warningsOf),
  };
}

/** YAML has every JSON text. Problems of the parser do not repeat the line, which may have a secret. */
function parsed(file: string): unknown | Unusable {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    return new Unusable(`names a file that cannot be read: ${file} (${(error as NodeJS.ErrnoException).code}).`);
  }
  try {
    return load(content, { schema: CORE_SCHEMA });
  } catch (error) {
    const { mark } = error as { mark?: { line: number } };
    return new Unusable(`names a file that is neither JSON nor YAML${mark ? `: line ${mark.line + 1}` : ''}.`);
  }
}

/**
 * Reads the file.
 * @param env for the secrets that it names
 * @returns the problems, each the end of a sentence that starts with the name of the variable, if there are any
 */
export function readSignInFile(file: string, env: Reading['env']): SignInFile | string[] {
  const content = parsed(file);
  if (content instanceof Unusable) return [content.text];
  if (!isObject(content)) return ['names a file that must have an object with providers.'];
  const problems = new Problems();
  const read = readContent(content, { env, folder: path.dirname(path.resolve(file)) }, problems);
  return problems.all.length > 0 ? problems.all.map((text) => `has a problem: ${text}`) : read;
}
