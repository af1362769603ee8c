/** Text search, as in the parameter `search` of lists of issuables (docs/reference/issues.md). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { badParam, containing } from '../http/index.ts';

/** Shorter terms have no trigram, which the search index needs. */
const shortest = 3;
const maximumTerms = 64;

/** Splits `fix "login page"` into `['fix', 'login page']`. */
export function termsOf(search: string): string[] {
  return Array.from(search.matchAll(/(?<=^|\s)"([^"]+)"(?=\s|$)|\S+/g), ([whole, quoted]) => quoted ?? whole);
}

/** The name of a column with its table, e.g. `issues.title`, or an expression. */
type Searched = string | RawBuilder<unknown>;

const inOneOf = (columns: readonly Searched[], pattern: string) => {
  const tests = columns.map((one) => sql`${typeof one === 'string' ? sql.ref(one) : one} ilike ${pattern}`);
  return sql<SqlBool>`(${sql.join(tests, sql` or `)})`;
};

/**
 * A predicate on rows: each term occurs in one of the columns. Terms of one or two characters count only if there is no longer one, and must then equal the
 * whole value, because nearly every text contains them.
 * @param search terms; those with blanks are in quotes
 * @param parameter its name, for the refusal
 * @returns undefined for a search without terms
 * @throws ApiError 400 for too many terms
 */
export function isFoundIn(
  search: string,
  columns: readonly Searched[],
  parameter = 'search',
): RawBuilder<SqlBool> | undefined {
  const terms = termsOf(search);
  if (terms.length === 0) return undefined;
  if (terms.length > maximumTerms) throw badParam(parameter, `has more than ${maximumTerms} terms`);
  const long = terms.filter((term) => [...term].length >= shortest);
  if (long.length === 0) return inOneOf(columns, containing(search.trim()).slice(1, -1));
  return containsEach(long, columns);
}

/** A predicate on rows: each term occurs in one of the columns. */
export const containsEach = (terms: readonly string[], columns: readonly Searched[]): RawBuilder<SqlBool> =>
  sql`(${sql.join(
    terms.map((term) => inOneOf(columns, containing(term))),
    sql` and `,
  )})`;
