/** Projects with the frameworks that they have (docs/reference/compliance_frameworks.md#status). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { isVisibleProject, type MaybeCaller } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { factsOf } from './fact_queries.ts';
import { type ComplianceStatus, type DemandedRow, presentStatus } from './present.ts';

const requirements = sql`
  coalesce((select json_agg(json_build_object('name', requirement.name, 'description', requirement.description, 'controls', requirement.controls) order by requirement.id)
              from compliance_requirements requirement where requirement.framework_id = framework.id), '[]')`;

const frameworks = sql<DemandedRow['frameworks']>`
  (select json_agg(json_build_object('id', framework.id, 'name', framework.name, 'color', framework.color, 'requirements', ${requirements}) order by framework.name)
     from project_compliance_frameworks held join compliance_frameworks framework on framework.id = held.framework_id
    where held.project_id = projects.id)`;

const isDemanded = sql<boolean>`
  exists (select from project_compliance_frameworks demanded where demanded.project_id = projects.id)`;

/** Projects that the caller sees and that have a framework, by path. @param which a predicate on rows of `projects` */
export const demandedProjects = (db: Database, caller: MaybeCaller, which: RawBuilder<SqlBool>) =>
  db
    .selectFrom('projects')
    .select(['projects.id', 'projects.name', 'projects.full_path'])
    .select([frameworks.as('frameworks'), sql<string>`now()`.as('checked_at')])
    .where(isDemanded)
    .where(sql<boolean>`${which}`)
    .where(isVisibleProject(caller))
    .orderBy('projects.full_path')
    .orderBy('projects.id')
    .$castTo<DemandedRow>();

/** Judges projects by what is known of them now. @param url of the server */
export async function judged(db: Database, url: string, rows: readonly DemandedRow[]): Promise<ComplianceStatus[]> {
  const facts = await factsOf(
    db,
    rows.map(({ id }) => id),
  );
  // A project that is deleted meanwhile has none.
  return rows.flatMap((row) => {
    const known = facts.get(row.id);
    return known ? [presentStatus(url, row, known)] : [];
  });
}
