/** How moves appear in responses (docs/reference/storage_moves.md#object). */
import { sql } from 'kysely';
import { type Static, type TSchema, Type } from 'typebox';
import { groupPage } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { Id, nullable, resource, type Services, Timestamp } from '../../../http/index.ts';
import { presentSnippetIdentity, SnippetIdentity } from '../../code/snippets/index.ts';
import { ProjectIdentity, projectIdentityJson } from '../../people/namespaces/index.ts';
import type { Container, State } from './definition.ts';

const GroupIdentity = resource('StorageMoveGroup', { id: Id, web_url: Type.String(), name: Type.String() });

const states: State[] = ['scheduled', 'started', 'replicated', 'finished', 'failed', 'cleanup failed'];

const shared = {
  id: Id,
  created_at: Timestamp,
  state: Type.Enum(states),
  source_storage_name: Type.String(),
  destination_storage_name: Type.String(),
  error_message: nullable(Type.String()),
};

/** The move of a project, snippet or group. */
export const storageMoveForms = {
  project: resource('ProjectStorageMove', { ...shared, project: ProjectIdentity }),
  snippet: resource('SnippetStorageMove', { ...shared, snippet: SnippetIdentity }),
  group: resource('GroupStorageMove', { ...shared, group: GroupIdentity }),
} satisfies Record<Container['name'], TSchema>;

const snippetJson = sql<Parameters<typeof presentSnippetIdentity>[1] | null>`(
  select jsonb_build_object('id', snippets.id, 'title', title, 'description', snippets.description, 'visibility', snippets.visibility,
      'updated_at', to_json(snippets.updated_at), 'created_at', to_json(snippets.created_at), 'project_id', snippets.project_id,
      'project_path', project.full_path)
    from snippets left join projects project on project.id = snippets.project_id where snippets.id = moves.snippet_id)`;

const groupJson = sql<{ id: number; full_path: string; name: string } | null>`(
  select jsonb_build_object('id', id, 'full_path', full_path, 'name', name) from namespaces where namespaces.id = moves.group_id)`;

/** The moves of containers of a kind, newest first. */
export const movesOf = (db: Database, { column }: Container) =>
  db
    .selectFrom('repository_storage_moves as moves')
    .leftJoin('projects', 'projects.id', 'moves.project_id')
    .select(['moves.id', 'moves.created_at', 'state', 'error_message'])
    .select(['source_storage as source_storage_name', 'destination_storage as destination_storage_name'])
    .select([projectIdentityJson.as('project'), snippetJson.as('snippet'), groupJson.as('group')])
    .where(`moves.${column}`, 'is not', null)
    .orderBy('moves.created_at', 'desc')
    .orderBy('moves.id', 'desc');

type MoveRow = Awaited<ReturnType<ReturnType<typeof movesOf>['execute']>>[number];

/** The reply for a row of `movesOf`. */
export function presentMove(
  services: Pick<Services, 'url' | 'ssh_url'>,
  { project, snippet, group, state, ...move }: MoveRow,
): Static<(typeof storageMoveForms)[Container['name']]> {
  const all = { ...move, state: state as State };
  if (project) return { ...all, project };
  if (snippet) return { ...all, snippet: presentSnippetIdentity(services, snippet) };
  return {
    ...all,
    group: { id: group!.id, web_url: services.url + groupPage(group!.full_path), name: group!.name },
  };
}
