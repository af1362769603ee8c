/** Licenses as files name them: SPDX identifiers, expressions, and other words. */
import parseExpression, { type Info } from 'spdx-expression-parse';
import licenseList from 'spdx-license-list';

const most = 20;
const longest = 255;

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

function fromText(text: string): string[] {
  const trimmed = text.trim();
  if (trimmed === '' || /^(?:NOASSERTION|NONE|UNKNOWN|UNLICENSED|SEE LICENSE IN .*)$/i.test(trimmed)) return [];
  if (trimmed.length <= 1_000) {
    try {
      return identifiersIn(parseExpression(trimmed));
    } catch {
      // Not an expression; the words are kept.
    }
  }
  return [trimmed.slice(0, longest)];
}

/**
 * The licenses that a member of a file names: a text, an object with `type` or `name`, or a list of these.
 * @returns each once, at most 20
 */
export function licensesIn(value: unknown): string[] {
  const texts = (Array.isArray(value) ? value.slice(0, most) : [value]).map((item: unknown) => {
    if (typeof item === 'string') return item;
    const { type, name } = (item ?? {}) as { type?: unknown; name?: unknown };
    return typeof type === 'string' ? type : typeof name === 'string' ? name : '';
  });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: The database takes no NUL, and nobody needs the others.
  const clean = texts.map((text) => text.toWellFormed().replace(/[\u0000-\u001f\u007f]+/g, ' '));
  return [...new Set(clean.flatMap(fromText))].slice(0, most);
}

const unknown: LicenseName = { name: 'unknown', spdx_identifier: 'unknown', url: null };

function namedLicense(license: string): LicenseName {
  const [, id = license, exception] = /^([^ ]+?)\+?(?: WITH (.+))?$/.exec(license) ?? [];
  if (/^(?:LicenseRef|DocumentRef)-/.test(id)) return { name: license, spdx_identifier: license, url: null };
  if (!Object.hasOwn(licenseList, id)) return { name: license, spdx_identifier: null, url: null };
  const { name } = licenseList[id]!;
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
