/** What the values of members in the file of providers may be (docs/reference/sign_in_providers.md#the-file). */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** What reading the file needs besides the file. */
export interface Reading {
  env: Readonly<Record<string, string | undefined>>;
  /** Paths in the file are relative to it. */
  folder: string;
}

/** Why a value cannot be used: the end of a sentence that starts with the name of the member. It never repeats the value, which may be a secret. */
export class Unusable {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A kind of value. */
export interface Kind<T> {
  /** What the documentation says of it. */
  says: string;
  read(value: unknown, reading: Reading): T | Unusable;
}

const mostCharacters = 10_000;

const isText = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.trim() !== '' &&
  value.length <= mostCharacters &&
  value.isWellFormed() &&
  !value.includes('\0');

const simple = <T>(says: string, needs: string, is: (value: unknown) => value is T): Kind<T> => ({
  says,
  read: (value) => (is(value) ? value : new Unusable(`must be ${needs}.`)),
});

export const text = simple('text', 'a text', isText);
export const flag = simple('true or false', 'true or false', (value) => typeof value === 'boolean');
export const texts = simple(
  'list of texts',
  'a list of texts',
  (value): value is string[] => Array.isArray(value) && value.length <= 1000 && value.every(isText),
);

/** A whole number. */
export const numberFrom = (least: number, most: number): Kind<number> =>
  simple(
    `${least} to ${most}`,
    `a whole number from ${least} to ${most}`,
    (value): value is number => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
  );

/** One of some words. */
export const oneOf = <const W extends string>(...words: W[]): Kind<W> =>
  simple(words.join(', '), `one of ${words.join(', ')}`, (value): value is W => words.includes(value as W));

/** Some of a list of words. */
export const someOf = <const W extends string>(...words: W[]): Kind<readonly W[]> =>
  simple(
    `list of ${words.join(', ')}`,
    `a list of some of ${words.join(', ')}`,
    (value): value is W[] => Array.isArray(value) && value.every((each) => words.includes(each)),
  );

/** `false`, or a list of texts. */
export const falseOrTexts: Kind<false | string[]> = {
  says: 'false, or list of texts',
  read: (value, reading) => (value === false ? false : texts.read(value, reading)),
};

/** A text, or a list of texts. */
const textOrTexts: Kind<string[]> = {
  says: 'text, or list of texts',
  read: (value, reading) => {
    const read = texts.read([value].flat(), reading);
    return read instanceof Unusable ? new Unusable('must be a text or a list of texts.') : read;
  },
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Texts by name. */
export const textsByName: Kind<Record<string, string>> = simple(
  'texts by name',
  'an object of texts',
  (value): value is Record<string, string> => isObject(value) && Object.values(value).every(isText),
);

/** Texts, or lists of them, for some names. */
export const textsFor = <const N extends string>(...names: N[]): Kind<{ [name in N]?: string[] }> => ({
  says: `lists of texts for ${names.join(', ')}`,
  read: (value, reading) => {
    if (!isObject(value)) return new Unusable(`must be an object with some of ${names.join(', ')}.`);
    const unknown = Object.keys(value).find((name) => !(names as string[]).includes(name));
    if (unknown !== undefined) return new Unusable(`takes ${names.join(', ')}, not “${unknown}”.`);
    const read = Object.entries(value).map(([name, given]) => [name, textOrTexts.read(given, reading)] as const);
    const wrong = read.find(([, given]) => given instanceof Unusable);
    if (wrong) return new Unusable(`has a member ${wrong[0]} that must be a text or a list of texts.`);
    return Object.fromEntries(read) as { [name in N]?: string[] };
  },
});

const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** An address of the operator's provider. Without encryption it is allowed on this machine alone. */
export const address: Kind<string> = {
  says: 'https address',
  read: (value) => {
    const url = isText(value) && !/\s/.test(value) ? URL.parse(value) : null;
    if (!url || !['http:', 'https:'].includes(url.protocol) || url.username || url.password || url.hash)
      return new Unusable('must be an address like https://id.example.com, without a user or a fragment.');
    if (url.protocol === 'http:' && !loopback.test(url.hostname))
      return new Unusable('must begin with https://, because it is not on this machine.');
    return value as string;
  },
};

/** `host:port`s. */
export const hostsAndPorts: Kind<string[]> = {
  says: 'list of host:port',
  read: (value) =>
    Array.isArray(value) && value.length > 0 && value.length <= 20 && value.every(isHostAndPort)
      ? value
      : new Unusable('must be a list of up to 20 texts like ldap.example.com:636.'),
};
const isHostAndPort = (value: unknown): value is string => {
  const [, port] = (typeof value === 'string' && /^(?:[\w.-]+|\[[0-9a-f:.]+\]):(\d{1,5})$/i.exec(value)) || [];
  return port !== undefined && Number(port) > 0 && Number(port) < 65_536;
};

/** A text in the file, in a variable, or in a file of its own. */
function secretIn(value: unknown, { env, folder }: Reading): string | Unusable {
  if (isText(value)) return value;
  const [[name, place] = [], ...more] = isObject(value) ? Object.entries(value) : [];
  if (more.length > 0 || !isText(place) || !['env', 'file'].includes(name!))
    return new Unusable('must be a text, {"env": "NAME"} or {"file": "/path"}.');
  if (name === 'env')
    return isText(env[place]) ? env[place] : new Unusable(`names the variable ${place}, which is not set.`);
  try {
    const content = readFileSync(path.resolve(folder, place), 'utf8').trimEnd();
    return isText(content) ? content : new Unusable(`names a file without a text: ${place}.`);
  } catch (error) {
    return new Unusable(`names a file that cannot be read: ${place} (${(error as NodeJS.ErrnoException).code}).`);
  }
}

/** A file, of which the content counts. */
export const file: Kind<string> = {
  says: 'path of a file',
  read: (value, reading) => (isText(value) ? secretIn({ file: value }, reading) : new Unusable('must be a path.')),
};

export const secret: Kind<string> = { says: 'secret', read: secretIn };

/** Whether a reader of keys takes a text. */
function isReadable(read: (text: string) => unknown, text: string): boolean {
  try {
    read(text);
    return true;
  } catch {
    return false;
  }
}

export const privateKey: Kind<string> = {
  says: 'secret: private key in PEM',
  read: (value, reading) => {
    const read = secretIn(value, reading);
    return read instanceof Unusable || isReadable(createPrivateKey, read)
      ? read
      : new Unusable('must be a private key in PEM without a password.');
  },
};

/** Certificates are often written without their first and last line, as metadata has them. */
const asPem = (text: string): string =>
  text.includes('-----BEGIN')
    ? text
    : `-----BEGIN CERTIFICATE-----\n${text.replaceAll(/\s+/g, '')}\n-----END CERTIFICATE-----\n`;

export const certificates: Kind<string[]> = {
  says: 'certificate in PEM, or list of them; each as a secret may be',
  read: (value, reading) => {
    const read = [value].flat().map((each) => secretIn(each, reading));
    const wrong = read.find((each) => each instanceof Unusable);
    if (wrong) return wrong;
    const all = (read as string[]).map(asPem);
    if (all.length === 0 || !all.every((each) => isReadable((pem) => new X509Certificate(pem), each)))
      return new Unusable('must be a certificate in PEM, or a list of them.');
    return all;
  },
};

export const certificate: Kind<string> = {
  says: 'certificate in PEM, as a secret may be',
  read: (value, reading) => {
    const read = Array.isArray(value)
      ? new Unusable('must be a certificate in PEM.')
      : certificates.read(value, reading);
    return read instanceof Unusable ? read : read[0]!;
  },
};
