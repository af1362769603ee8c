/** Looking for words in issues: `search` and `in` of their lists (issues.md section 3). */
import type { RawBuilder, SqlBool } from 'kysely';
import { isFoundIn } from '../../../http/index.ts';

const columns = ['title', 'description'] as const;

/** The columns that `in` names. Others are not heard; without any of ours it is as if it were left out. */
function columnsIn(text: string | undefined): readonly (typeof columns)[number][] {
  const named = columns.filter((column) => text?.split(',').some((name) => name.trim() === column));
  return named.length > 0 ? named : columns;
}

/**
 * A predicate on rows of `issues`: every term is somewhere in one of the columns, as `isFoundIn` says.
 * @param search terms, those with blanks in quotes
 * @param named the columns, separated by commas
 * @returns undefined when nothing is looked for
 * @throws ApiError 400 for too many terms
 */
export const isFound = (search: string, named: string | undefined): RawBuilder<SqlBool> | undefined =>
  isFoundIn(
    search,
    columnsIn(named).map((column) => `issues.${column}`),
  );
