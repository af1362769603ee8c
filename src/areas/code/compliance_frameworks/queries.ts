/** Compliance frameworks in replies (docs/reference/compliance_frameworks.md). */
import { sql } from 'kysely';
import { type Static, Type } from 'typebox';
import type { Database } from '../../../db/index.ts';
import { found, Id, nullable, resource, Timestamp } from '../../../http/index.ts';

const Requirement = Type.Object({
  name: Type.String(),
  description: nullable(Type.String()),
  controls: Type.Array(Type.Object({ name: Type.String() })),
});

export const ComplianceFramework = resource('ComplianceFramework', {
  id: Id,
  name: Type.String(),
  description: Type.String(),
  color: Type.String(),
  default: Type.Boolean({ description: 'Whether new projects in the group get it' }),
  namespace_id: Id,
  requirements: Type.Array(Requirement),
  projects_count: Type.Integer(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type FrameworkRow = Static<typeof ComplianceFramework>;

const requirements = sql<FrameworkRow['requirements']>`
  coalesce((select json_agg(json_build_object('name', name, 'description', description,
                              'controls', (select json_agg(json_build_object('name', control)) from unnest(controls) control)) order by id)
              from compliance_requirements where framework_id = compliance_frameworks.id), '[]')`;

const frameworks = (db: Database) =>
  db
    .selectFrom('compliance_frameworks')
    .select(['id', 'name', 'description', 'color', 'is_default as default', 'group_id as namespace_id'])
    .select(['created_at', 'updated_at', requirements.as('requirements')])
    .select(
      sql<number>`(select count(*) from project_compliance_frameworks where framework_id = compliance_frameworks.id)`.as(
        'projects_count',
      ),
    );

/** The frameworks of a group, by name. */
export const frameworksOf = (db: Database, group_id: number) =>
  frameworks(db).where('group_id', '=', group_id).orderBy('name').orderBy('id');

/** @throws ApiError 404 */
export const frameworkOf = async (db: Database, group_id: number, id: number): Promise<FrameworkRow> =>
  found(
    'Compliance Framework',
    await frameworks(db).where('group_id', '=', group_id).where('id', '=', id).executeTakeFirst(),
  );

/** The frameworks of a project, by name. */
export const frameworksOfProject = (db: Database, project_id: number) =>
  frameworks(db)
    .where(
      sql<boolean>`exists (select from project_compliance_frameworks held where held.framework_id = compliance_frameworks.id and held.project_id = ${project_id})`,
    )
    .orderBy('name')
    .orderBy('id');

/** The names of the frameworks of each row of `projects`. */
export const frameworkNames = sql<string[]>`
  array(select compliance_frameworks.name from project_compliance_frameworks held join compliance_frameworks on compliance_frameworks.id = held.framework_id
         where held.project_id = projects.id order by 1)`;
