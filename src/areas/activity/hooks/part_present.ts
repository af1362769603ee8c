/** What many bodies of webhooks show: people, projects, groups. */
import { type Static, Type } from 'typebox';
import { projectPage } from '../../../access/index.ts';
import { cloneUrls, Id, nullable, resource } from '../../../http/index.ts';
import type { Filling } from '../../../services/index.ts';
import { avatarUrl } from '../../people/avatars/index.ts';
import type { PersonRow, ProjectRow } from './part_queries.ts';

const Url = Type.String({ format: 'uri' });
const visibilityLevels: Record<string, number> = { private: 0, internal: 10, public: 20 };

/** A user as the source of an event or as an assignee. */
export const HookPerson = resource('HookPerson', {
  id: Id,
  name: Type.String(),
  username: Type.String(),
  avatar_url: nullable(Type.String()),
  email: Type.String({ description: '`[REDACTED]` unless the user shows it' }),
});

/** The address of a user's avatar; null without one. */
export const avatarOf = (row: Pick<PersonRow, 'id' | 'avatar'>, { url }: Pick<Filling, 'url'>): string | null =>
  avatarUrl(url, 'user', row);

export const presentPerson = (row: PersonRow, services: Pick<Filling, 'url'>): Static<typeof HookPerson> => ({
  ...row,
  avatar_url: avatarOf(row, services),
  email: row.public_email || '[REDACTED]',
});

export const HookProject = resource('HookProject', {
  id: Id,
  name: Type.String(),
  description: nullable(Type.String()),
  web_url: Url,
  avatar_url: nullable(Type.String()),
  git_ssh_url: Type.String(),
  git_http_url: Url,
  namespace: Type.String(),
  visibility_level: Type.Integer(),
  path_with_namespace: Type.String(),
  default_branch: Type.String(),
  ci_config_path: nullable(Type.String()),
  homepage: Url,
  url: Type.String(),
  ssh_url: Type.String(),
  http_url: Url,
});

export function presentProject(row: ProjectRow, services: Filling): Static<typeof HookProject> {
  const web_url = services.url + projectPage(row.full_path);
  const { http, ssh } = cloneUrls(services, row.full_path);
  return {
    ...row,
    web_url,
    avatar_url: avatarUrl(services.url, 'project', row),
    git_ssh_url: ssh,
    git_http_url: http,
    visibility_level: visibilityLevels[row.visibility]!,
    path_with_namespace: row.full_path,
    // Events of before an upgrade do not have it.
    ci_config_path: row.ci_config_path ?? null,
    homepage: web_url,
    url: ssh || http,
    ssh_url: ssh,
    http_url: http,
  };
}

/** The older form of a project, shown in addition to it. */
export const HookRepository = resource('HookRepository', {
  name: Type.String(),
  url: Type.String(),
  description: nullable(Type.String()),
  homepage: Url,
  git_http_url: Url,
  git_ssh_url: Type.String(),
  visibility_level: Type.Integer(),
});

export function presentRepository(
  row: Pick<ProjectRow, 'name' | 'description' | 'visibility' | 'full_path'>,
  services: Filling,
): Static<typeof HookRepository> {
  const { http, ssh } = cloneUrls(services, row.full_path);
  return {
    ...row,
    url: ssh || http,
    homepage: services.url + projectPage(row.full_path),
    git_http_url: http,
    git_ssh_url: ssh,
    visibility_level: visibilityLevels[row.visibility]!,
  };
}

/** A group as its snapshot is. */
export const HookGroup = resource('HookGroup', {
  group_id: Id,
  group_name: Type.String(),
  group_path: Type.String(),
  full_path: Type.String(),
});
