/** Mirrors in replies. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { type Static, type TObject, Type } from 'typebox';
import { Id, nullable, optional, resource, since, Timestamp } from '../../../http/index.ts';
import type { PullMirrorRow, RemoteMirrorRow } from './queries.ts';
import { maskedUrl } from './rules.ts';

const HostKeys = Type.Array(Type.Object({ fingerprint_sha256: Type.String() }));

const states = {
  last_update_at: nullable(Timestamp),
  last_update_started_at: nullable(Timestamp),
  last_successful_update_at: nullable(Timestamp),
  last_error: nullable(Type.String()),
};

export const RemoteMirror = resource('RemoteMirror', {
  id: Id,
  enabled: Type.Boolean(),
  url: Type.String({ description: 'With `*****` in place of user and password' }),
  auth_method: Type.Enum(['password', 'ssh_public_key']),
  update_status: Type.Enum(['none', 'scheduled', 'started', 'finished', 'failed', 'to_retry']),
  ...states,
  only_protected_branches: Type.Boolean(),
  mirror_branch_regex: nullable(Type.String()),
  keep_divergent_refs: Type.Boolean(),
  host_keys: HostKeys,
});

export const PullMirror = resource('PullMirror', {
  id: Id,
  enabled: Type.Boolean(),
  url: Type.String({ description: 'With `*****` in place of user and password' }),
  update_status: Type.Enum(['none', 'scheduled', 'started', 'finished', 'failed']),
  ...states,
  mirror_trigger_builds: Type.Boolean({ description: 'Whether what is pulled starts pipelines' }),
  only_mirror_protected_branches: nullable(Type.Boolean()),
  mirror_overwrites_diverged_branches: Type.Boolean(),
  mirror_branch_regex: nullable(Type.String()),
  public_key: nullable(Type.String({ description: 'With which it signs in over SSH, unless there is a password' })),
  host_keys: HostKeys,
});

const fingerprintOf = (key: string): string => {
  const bytes = Buffer.from(key.split(' ')[1] ?? '', 'base64');
  return `SHA256:${createHash('sha256').update(bytes).digest('base64').replace(/=+$/, '')}`;
};

const presentHostKeys = ({ host_keys }: Pick<RemoteMirrorRow, 'host_keys'>) =>
  host_keys.map((key) => ({ fingerprint_sha256: fingerprintOf(key) }));

const presentStates = (row: Pick<RemoteMirrorRow, keyof typeof states>) => ({
  last_update_at: row.last_update_at,
  last_update_started_at: row.last_update_started_at,
  last_successful_update_at: row.last_successful_update_at,
  last_error: row.last_error,
});

export const presentRemoteMirror = (row: RemoteMirrorRow): Static<typeof RemoteMirror> => ({
  id: row.id,
  enabled: row.enabled,
  url: maskedUrl(row),
  auth_method: row.auth_method as Static<typeof RemoteMirror>['auth_method'],
  update_status: row.update_status as Static<typeof RemoteMirror>['update_status'],
  ...presentStates(row),
  only_protected_branches: row.only_protected_branches,
  mirror_branch_regex: row.mirror_branch_regex,
  keep_divergent_refs: row.keep_divergent_refs,
  host_keys: presentHostKeys(row),
});

export const presentPullMirror = (row: PullMirrorRow): Static<typeof PullMirror> => ({
  id: row.id,
  enabled: row.enabled,
  url: maskedUrl(row),
  update_status: row.update_status as Static<typeof PullMirror>['update_status'],
  ...presentStates(row),
  mirror_trigger_builds: row.mirror_trigger_builds,
  only_mirror_protected_branches: row.only_mirror_protected_branches,
  mirror_overwrites_diverged_branches: row.mirror_overwrites_diverged_branches,
  mirror_branch_regex: row.mirror_branch_regex,
  public_key: row.public_key,
  host_keys: presentHostKeys(row),
});

/** The members of projects about their pull mirror. */
export const projectMirrorFields = {
  mirror: since('premium', Type.Boolean({ description: 'Whether it is pulled from another server' })),
  mirror_user_id: since('premium', nullable(Id)),
  mirror_trigger_builds: since('premium', Type.Boolean()),
  only_mirror_protected_branches: since('premium', nullable(Type.Boolean())),
  mirror_overwrites_diverged_branches: since('premium', Type.Boolean()),
  mirror_branch_regex: since('premium', nullable(Type.String())),
  import_url: optional(
    nullable(Type.String({ description: 'Maintainers only; with `*****` in place of user and password' })),
  ),
};

export type ProjectMirrorRow = Pick<
  PullMirrorRow,
  | 'enabled'
  | 'url'
  | 'hides_login'
  | 'user_id'
  | 'mirror_trigger_builds'
  | 'only_mirror_protected_branches'
  | 'mirror_overwrites_diverged_branches'
  | 'mirror_branch_regex'
>;

/** The input of `presentProjectMirror`, from a row of `projects`; null without a mirror. */
export const projectMirrorJson = sql<ProjectMirrorRow | null>`
  (select json_build_object('enabled', enabled, 'url', url, 'hides_login', hides_login, 'user_id', user_id, 'mirror_trigger_builds', mirror_trigger_builds,
                            'only_mirror_protected_branches', only_mirror_protected_branches,
                            'mirror_overwrites_diverged_branches', mirror_overwrites_diverged_branches, 'mirror_branch_regex', mirror_branch_regex)
     from pull_mirrors where project_id = projects.id)`;

/** @param isMaintainer whether the caller may see the URL */
export function presentProjectMirror(
  row: ProjectMirrorRow | null,
  isMaintainer: boolean,
): Static<TObject<typeof projectMirrorFields>> {
  const followed = row?.enabled ? row : undefined;
  return {
    mirror: followed !== undefined,
    mirror_user_id: followed?.user_id ?? null,
    mirror_trigger_builds: followed?.mirror_trigger_builds ?? false,
    only_mirror_protected_branches: followed?.only_mirror_protected_branches ?? null,
    mirror_overwrites_diverged_branches: followed?.mirror_overwrites_diverged_branches ?? false,
    mirror_branch_regex: followed?.mirror_branch_regex ?? null,
    ...(isMaintainer ? { import_url: row ? maskedUrl(row) : null } : {}),
  };
}
