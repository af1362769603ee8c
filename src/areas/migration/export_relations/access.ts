/** Who may export a project or group: Maintainers of the project, Owners of the group, and administrators, while the setting is on. */
import { callerInJob, groupFor, groupRole, levels, projectFor, projectRole } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Access, ApiError, type Caller } from '../../../http/index.ts';
import type { JobServices } from '../../../services/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import type { ExportOwner } from './definition.ts';
import { PermissionDenied } from './rules.ts';

const isEnabled = async (db: Database): Promise<boolean> => (await settingsOf(db)).bulk_import_enabled;

export const turnedOff = '404 Not Found';

/** Responds with 404 to everyone while the setting is off. */
const whileEnabled = <G>(access: Access<G>, granted: (of: G) => Exporting): Access<Exporting> => ({
  rule: access.rule,
  async check(call) {
    if (!(await isEnabled(call.db))) throw new ApiError(404, { message: turnedOff });
    return granted(await access.check(call));
  },
});

interface Exporting {
  caller: Caller;
  owner: ExportOwner;
}

/** Grants the project or group in `:id` to those who may export it. */
export const exporter: Readonly<Record<ExportOwner['kind'], Access<Exporting>>> = {
  project: whileEnabled(projectRole('maintainer', { archived: true }), ({ caller, project: { id } }) => ({
    caller,
    owner: { kind: 'project', id },
  })),
  group: whileEnabled(groupRole('owner'), ({ caller, group: { id } }) => ({ caller, owner: { kind: 'group', id } })),
};

/**
 * The user of an export, when a job starts to write files for them.
 * @throws PermissionDenied if they may no longer export
 */
export async function exporterInJob(
  services: Pick<JobServices, 'db' | 'url'>,
  user_id: number,
  { kind, id }: ExportOwner,
): Promise<Caller> {
  const caller = await callerInJob(services, user_id);
  if (!caller || !(await isEnabled(services.db))) throw new PermissionDenied();
  const place = await (kind === 'project' ? projectFor : groupFor)(services.db, caller, String(id));
  if ((place?.access_level ?? 0) < (kind === 'project' ? levels.maintainer : levels.owner))
    throw new PermissionDenied();
  return caller;
}
