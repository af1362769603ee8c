/** License names in files: SPDX identifiers, expressions, and other words. */
import parseExpression, { type Info } from 'spdx-expression-parse';
import licenseList from 'spdx-license-list';
import { withoutControls } from './entries.ts';

const maximum = 20;
const maximumLength = 255;

/** A license for people. */
export interface LicenseName {
  name: string;
  spdx_identifier: string | null;
  url: string | null;
}

/** The identifiers of an expression, in order; its depth is limited by its length. */
function identifiersIn(expression: Info): string[] {
  if ('conjunction' in expression) return [...identifiersIn(expression.left), ...identifiersIn(expression.right)];
  if (!('license' in expression)) return [];
  const { license, plus, exception } = expression;
  return [`${license}${plus ? '+' : ''}${exception === undefined ? '' : ` WITH ${exception}`}`];
}

/** Normalises a name to compare spellings: `The Apache License, Version 2.0` and `Apache License 2.0` become `apache 2.0`. */
const plainName = (text: string): string =>
  text
    .toLowerCase()
    .replace(/\b(?:the|licen[cs]e|version)\b|\bv\.?\s*(?=\d)|[^a-z0-9.+]+/g, ' ')
    .replace(/ +/g, ' ')
    .trim();

/** Common names that are not on the SPDX list. A name that can mean several licenses, such as `BSD`, is not here. */
const otherNames: Readonly<Record<string, string>> = {
  'apache 2': 'Apache-2.0',
  'apache software': 'Apache-2.0',
  'apache software 2.0': 'Apache-2.0',
  'mit mit': 'MIT',
  'mit x11': 'MIT',
  expat: 'MIT',
  '2 clause bsd': 'BSD-2-Clause',
  'bsd 2 clause': 'BSD-2-Clause',
  'simplified bsd': 'BSD-2-Clause',
  '3 clause bsd': 'BSD-3-Clause',
  'bsd 3 clause': 'BSD-3-Clause',
  'modified bsd': 'BSD-3-Clause',
  'new bsd': 'BSD-3-Clause',
  'revised bsd': 'BSD-3-Clause',
  'eclipse distribution 1.0': 'BSD-3-Clause',
  'isc iscl': 'ISC',
  'eclipse public 1.0': 'EPL-1.0',
  'epl 2.0': 'EPL-2.0',
  'mpl 2.0': 'MPL-2.0',
  'mozilla public 2.0 mpl 2.0': 'MPL-2.0',
  'gnu general public 2 gplv2': 'GPL-2.0-only',
  'gnu general public 3 gplv3': 'GPL-3.0-only',
  'gnu general public 2 or later gplv2+': 'GPL-2.0-or-later',
  'gnu general public 3 or later gplv3+': 'GPL-3.0-or-later',
  'gnu lesser general public 2 lgplv2': 'LGPL-2.0-only',
  'gnu lesser general public 3 lgplv3': 'LGPL-3.0-only',
  'gnu lesser general public 2 or later lgplv2+': 'LGPL-2.0-or-later',
  'gnu lesser general public 3 or later lgplv3+': 'LGPL-3.0-or-later',
  gplv2: 'GPL-2.0-only',
  gplv3: 'GPL-3.0-only',
  lgplv3: 'LGPL-3.0-only',
  'python software foundation': 'PSF-2.0',
  'unlicense unlicense': 'Unlicense',
};

let identifiers: ReadonlyMap<string, string> | undefined;

/** The SPDX identifier that a name means; undefined for other words. */
function identifierOf(name: string): string | undefined {
  // Built on first use: most files name licenses by their identifiers.
  identifiers ??= new Map([
    ...Object.entries(licenseList)
      // Of identifiers with the same name, the shorter one is deprecated.
      .toSorted(([one], [other]) => one.length - other.length)
      .flatMap(([id, { name }]) => [[plainName(name), id] as const, [plainName(id), id] as const]),
    ...Object.entries(otherNames),
  ]);
  return identifiers.get(plainName(name));
}

function fromText(text: string): string[] {
  const trimmed = text.trim();
  if (trimmed === '' || /^(?:NOASSERTION|NONE|UNKNOWN|UNLICENSED|SEE LICENSE IN .*)$/i.test(trimmed)) return [];
  if (trimmed.length <= 1_000) {
    try {
      return identifiersIn(parseExpression(trimmed));
    } catch {
      // Not an expression; a name, or words that are kept.
    }
  }
  const kept = trimmed.slice(0, maximumLength);
  return [identifierOf(kept) ?? kept];
}

/** Cached results by text: a lock file repeats a few of them thousands of times. */
const known = new Map<string, string[]>();
const maximumKnown = 1_000;

/**
 * The licenses that a member of a file names: a text, an object with `type` or `name`, or a list of these.
 * @returns each once, at most 20
 */
export function licensesIn(value: unknown): string[] {
  if (typeof value !== 'string' || value.length > maximumLength) return parsedLicenses(value);
  const before = known.get(value);
  if (before) return before;
  const licenses = parsedLicenses(value);
  if (known.size === maximumKnown) known.clear();
  known.set(value, licenses);
  return licenses;
}

function parsedLicenses(value: unknown): string[] {
  const texts = (Array.isArray(value) ? value.slice(0, maximum) : [value]).map((item: unknown) => {
    if (typeof item === 'string') return item;
    const { type, name } = (item ?? {}) as { type?: unknown; name?: unknown };
    return typeof type === 'string' ? type : typeof name === 'string' ? name : '';
  });
  return [...new Set(texts.map(withoutControls).flatMap(fromText))].slice(0, maximum);
}

const unknown: LicenseName = { name: 'unknown', spdx_identifier: 'unknown', url: null };

/** The listed identifier for one that ends in `+`: most licenses have no separate identifier for later versions. */
const listedId = (id: string): string =>
  [id.replace(/\+$/, '-or-later'), id].find((each) => Object.hasOwn(licenseList, each)) ?? id.replace(/\+$/, '');

function namedLicense(license: string): LicenseName {
  const [, said = license, exception] = /^([^ ]+)(?: WITH (.+))?$/.exec(license) ?? [];
  if (/^(?:LicenseRef|DocumentRef)-/.test(said)) return { name: license, spdx_identifier: license, url: null };
  const id = listedId(said);
  if (!Object.hasOwn(licenseList, id)) return { name: license, spdx_identifier: null, url: null };
  const later = said.endsWith('+') && !/\+$|-or-later$/.test(id) ? ' or later' : '';
  const name = `${licenseList[id]!.name}${later}`;
  return {
    name: exception === undefined ? name : `${name} with ${exception}`,
    spdx_identifier: license,
    url: `https://spdx.org/licenses/${id}.html`,
  };
}

/**
 * Licenses for people: the name and page of the SPDX license list.
 * @param licenses as `licensesIn` returns them; without any, the license is unknown
 */
export const namedLicenses = (licenses: readonly string[]): LicenseName[] =>
  licenses.length === 0 ? [unknown] : licenses.map(namedLicense);
