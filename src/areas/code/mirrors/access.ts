/** Access rules for mirrors (docs/reference/mirrors.md#permissions). */
import { type Project, projectRole } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Access, ApiError, type Caller, forbidden, unauthorized } from '../../../http/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';

/** @throws ApiError 403 if only administrators can set up mirrors */
export async function refuseUnavailable(db: Database, caller: Pick<Caller, 'admin'>): Promise<void> {
  if (!caller.admin && !(await settingsOf(db)).mirror_available) throw forbidden();
}

const keepers = (allowed: { archived?: true }, refusal: (error: ApiError) => ApiError = (error) => error) => {
  const maintainers = projectRole('maintainer', allowed);
  return {
    rule: 'project:maintainer, as the settings say',
    async check(call) {
      const granted = await maintainers.check(call).catch((error: unknown) => {
        throw error instanceof ApiError && error.status === 403 ? refusal(error) : error;
      });
      await refuseUnavailable(call.db, granted.caller);
      return granted;
    },
  } satisfies Access<{ caller: Caller; project: Project }>;
};

/** Grants the project in `:id` to its maintainers, archived or not. */
export const mirrorKeeper: Access<{ caller: Caller; project: Project }> = keepers({ archived: true });

/** The same, unless the project is read-only. */
export const openMirrorKeeper: Access<{ caller: Caller; project: Project }> = keepers({});

/** As `mirrorKeeper`; callers who may read the project but lack this right get 401, which clients of push mirrors expect. */
export const remoteMirrorKeeper: Access<{ caller: Caller; project: Project }> = keepers(
  { archived: true },
  unauthorized,
);
