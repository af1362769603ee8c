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

/** Whether no term of a search can be looked up in an index, so that every row has to be read: most words of Chinese and Japanese are this short. */
export const readsEveryRow = (search: string): boolean => termsOf(search).every((term) => [...term].length < shortest);

/**
 * A predicate on rows: each term occurs in one of the columns.
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
  return containsEach(terms, columns);
}

/** A predicate on rows: each term occurs in one of the columns. */
export const containsEach = (terms: readonly string[], columns: readonly Searched[]): RawBuilder<SqlBool> =>
  sql`(${sql.join(
    terms.map((term) => inOneOf(columns, containing(term))),
    sql` and `,
  )})`;
