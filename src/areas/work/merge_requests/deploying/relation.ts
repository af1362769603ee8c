/** Exports and imports the deployments of a merge request (docs/reference/relations_export.md#merge_requests). */
import { sql } from 'kysely';
import { isAmong } from '../../../../db/index.ts';
import { type ArrivingRow, type RecordKind, shown } from '../../../../relations/index.ts';
import { canSeeDeployments } from '../../../deployments/environments/index.ts';

/** A deployment of the project, by its number. All deployments are imported before merge requests. */
export const deploymentLink: RecordKind = {
  table: 'deployment_merge_requests',
  is_link: true,
  distinct: ['deployment_id'],
  members: {
    iid: shown(sql`(select iid from deployments where deployments.id = deployment_merge_requests.deployment_id)`),
  },
  stays: {},
  isVisible: (departure) =>
    sql`exists (select from deployments where deployments.id = deployment_merge_requests.deployment_id and ${canSeeDeployments(departure)})`,
  derives: {
    columns: { deployment_id: 'bigint', environment_id: 'bigint' },
    derive: async (rows, { owner }, tx) => {
      const iids = rows.map(({ value }) => (Number.isSafeInteger(value.iid) ? (value.iid as number) : 0));
      const found = await tx
        .selectFrom('deployments')
        .select(['id', 'iid', 'environment_id'])
        .where('project_id', '=', owner.id)
        .where(isAmong('iid', iids, 'bigint[]'))
        .execute();
      const byIid = new Map(found.map((deployment) => [deployment.iid, deployment]));
      return new Map(
        rows.flatMap((each, index): [ArrivingRow, string][] => {
          const deployment = byIid.get(iids[index]!);
          each.row.deployment_id = deployment?.id ?? null;
          each.row.environment_id = deployment?.environment_id ?? null;
          return deployment ? [] : [[each, 'names a deployment that is not here']];
        }),
      );
    },
  },
};
