/** Limits that administrators set for the whole server (docs/reference/plan_limits.md). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { settingsOf } from '../application_settings/queries.ts';

/** The default of each limit. 0: no limit. The limit of feature flags is an application setting. */
const usualLimits = {
  project_hooks: 100,
  group_hooks: 50,
  storage_size_limit: 0,
  ci_instance_level_variables: 25,
  ci_pipeline_size: 0,
  ci_active_jobs: 0,
  ci_project_subscriptions: 2,
  ci_pipeline_schedules: 10,
  ci_needs_size_limit: 50,
  ci_registered_group_runners: 1000,
  ci_registered_project_runners: 1000,
  pipeline_hierarchy_size: 1000,
  dotenv_variables: 20,
  dotenv_size: 5120,
  conan_max_file_size: 3_221_225_472,
  enforcement_limit: 0,
  generic_packages_max_file_size: 5_368_709_120,
  helm_max_file_size: 5_242_880,
  maven_max_file_size: 3_221_225_472,
  notification_limit: 0,
  npm_max_file_size: 524_288_000,
  nuget_max_file_size: 524_288_000,
  pypi_max_file_size: 3_221_225_472,
  terraform_module_max_file_size: 1_073_741_824,
} as const satisfies Readonly<Record<string, number>>;

type StoredName = keyof typeof usualLimits;
export const storedNames = Object.keys(usualLimits) as StoredName[];
export type LimitName = StoredName | 'project_feature_flags';
export type Limits = Record<LimitName, number>;

/** All limits in force. */
export async function limitsOf(db: Database): Promise<Limits> {
  const [{ limits }, { project_feature_flags_limit }] = [
    await db.selectFrom('plan_limits').select('limits').executeTakeFirstOrThrow(),
    await settingsOf(db),
  ];
  return { ...usualLimits, ...(limits as Partial<Limits>), project_feature_flags: project_feature_flags_limit };
}

/** The bytes in a MiB. */
const mib = 1024 * 1024;

/**
 * Whether the repositories in the top-level namespace of a project exceed the size limit, as last measured.
 * @returns the limit in MiB; undefined if there is none, or it is not exceeded
 */
export async function exceededStorage(db: Database, project_id: number): Promise<number | undefined> {
  const { rows } = await sql<{ most_mib: number }>`
    select (limits ->> 'storage_size_limit')::bigint as most_mib
      from plan_limits
     where (limits ->> 'storage_size_limit')::bigint > 0
       and (select sum(size_bytes) from repository_sizes
              join projects on projects.id = repository_sizes.project_id
              join namespaces on namespaces.id = projects.namespace_id
             where namespaces.traversal_ids @> (select place.traversal_ids[1:1] from projects own join namespaces place on place.id = own.namespace_id where own.id = ${project_id}))
           > (limits ->> 'storage_size_limit')::bigint * ${sql.lit(mib)}`.execute(db);
  return rows[0]?.most_mib;
}
