/** Selects the branches and tags of a mirror. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { matchEach } from '../../../expressions/index.ts';
import { isAbout } from '../../../foundation/wildcards.ts';
import { protectsProject } from '../protected_branches/queries.ts';
import { reachedNow } from '../security_policies/queries.ts';
import { policyRefusal } from '../security_policies/rules.ts';

export interface Selection {
  only_protected: boolean;
  /** In RE2 syntax. */
  regex: string | null;
}

const [branches, tags] = ['refs/heads/', 'refs/tags/'];

/** The time limit for matching all names. */
const matching_ms = 10_000;
const maximumNames = 1000;

/** Whether all branches and tags are selected. */
export const isAll = ({ only_protected, regex }: Selection): boolean => !only_protected && regex === null;

const namesOf = async (db: Database, project_id: number, table: 'protected_branches' | 'protected_tags') =>
  (await db.selectFrom(table).select('name').where('project_id', '=', project_id).limit(maximumNames).execute()).map(
    ({ name }) => name,
  );

/**
 * Filters refs by the selection of a mirror: either the protected branches and tags, or the branches that match an expression and all tags.
 * @param refs full names of branches and tags
 */
export async function selectedRefs(
  db: Database,
  project_id: number,
  selection: Selection,
  refs: readonly string[],
): Promise<ReadonlySet<string>> {
  if (isAll(selection)) return new Set(refs);
  const inBranches = refs.filter((ref) => ref.startsWith(branches));
  if (selection.regex !== null) {
    const short = inBranches.map((ref) => ref.slice(branches.length));
    const matches = await matchEach({ source: selection.regex }, short, matching_ms);
    return new Set(refs.filter((ref) => ref.startsWith(tags)).concat(inBranches.filter((_, index) => matches[index])));
  }
  const [ofBranches, ofTags] = await Promise.all([
    namesOf(db, project_id, 'protected_branches'),
    namesOf(db, project_id, 'protected_tags'),
  ]);
  const isProtected = (ref: string) =>
    ref.startsWith(branches)
      ? ofBranches.some((name) => isAbout(name, ref.slice(branches.length)))
      : ofTags.some((name) => isAbout(name, ref.slice(tags.length)));
  return new Set(refs.filter(isProtected));
}

/** The branches among some refs that policies let change by merge requests only: a mirror would bring into them what nobody has approved. */
export async function keptBranches(
  db: Database,
  project_id: number,
  refs: readonly string[],
): Promise<ReadonlySet<string>> {
  const reached = await reachedNow(db, project_id);
  if (reached === null) return new Set();
  const query = db
    .selectFrom('protected_branches')
    .select('name')
    .where(protectsProject(sql`${project_id}::bigint`));
  const protections = await query.limit(maximumNames).execute();
  return new Set(
    refs.filter((ref) => {
      const branch = ref.slice(branches.length);
      const isProtected = ref.startsWith(branches) && protections.some(({ name }) => isAbout(name, branch));
      return isProtected && policyRefusal(reached, branch, false).length > 0;
    }),
  );
}
