/** Looking for words in texts: `search` of the lists of issues and epics (docs/reference/issues.md). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { badParams, containing } from '../http/index.ts';

/** Below this many characters a term has no trigram, by which texts are found. */
const shortest = 3;
const maximumTerms = 64;

/** `fix "login page"` as `['fix', 'login page']`. */
function termsOf(search: string): string[] {
  return Array.from(search.matchAll(/(?<=^|\s)"([^"]+)"(?=\s|$)|\S+/g), ([whole, quoted]) => quoted ?? whole);
}

const inOneOf = (columns: readonly string[], pattern: string) => {
  const tests = columns.map((column) => sql`${sql.ref(column)} ilike ${pattern}`);
  return sql<SqlBool>`(${sql.join(tests, sql` or `)})`;
};

/**
 * A predicate on rows: every term is somewhere in one of the columns. Terms of one or two characters count only where there is no longer one, and then for the
 * whole value: in the middle of a text they would be everywhere.
 * @param search terms, those with blanks in quotes
 * @param columns names with their table, e.g. `issues.title`
 * @returns undefined when nothing is looked for
 * @throws ApiError 400 for too many terms
 */
export function isFoundIn(search: string, columns: readonly string[]): RawBuilder<SqlBool> | undefined {
  const terms = termsOf(search);
  if (terms.length === 0) return undefined;
  if (terms.length > maximumTerms) throw badParams(`search has more than ${maximumTerms} terms`);
  const long = terms.filter((term) => [...term].length >= shortest);
  if (long.length === 0) return inOneOf(columns, containing(search.trim()).slice(1, -1));
  return sql`(${sql.join(
    long.map((term) => inOneOf(columns, containing(term))),
    sql` and `,
  )})`;
}
