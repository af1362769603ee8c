/** Webhook events for releases (docs/reference/hooks.md#events). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { type Database, membersInJson, momentInJson, plainColumns, rowInJson, rowsInJson } from '../../../db/index.ts';
import { repositoryOf, resolveCommit } from '../../../git/index.ts';
import { Id, nullable, resource, Timestamp } from '../../../http/index.ts';
import {
  HookCommit,
  HookProject,
  oneCommit,
  presentProject,
  projectRow,
  type Sample,
  sampled,
} from '../../activity/hooks/index.ts';
import { hookEvent, inProject, newsOf, type Refs, tellEach } from '../../instance/hook_events/index.ts';
import { releasePage, sourcePaths } from './present.ts';

/** A release by its tag, with the commit of the tag. */
export interface TaggedRelease {
  tag: string;
  commit_id: string | undefined;
}

type Action = 'create' | 'update' | 'delete';

interface ReleaseNews {
  id: number;
  project_id: number;
  /** The path of the project, for the names of archives. */
  path: string;
  action: Action;
  commit_id: string | null;
}

const HookLink = Type.Object({ id: Id, link_type: Type.String(), name: Type.String(), url: Type.String() });
const HookSource = Type.Object({ url: Type.String({ format: 'uri' }), format: Type.String() });

export const releaseEvent = hookEvent({
  name: 'release',
  summary: 'A release was created, changed or deleted',
  triggers: ['releases_events'],
  snapshot: (news: Refs<ReleaseNews>) => ({
    action: news.action,
    commit_id: news.commit_id,
    path: news.path,
    project: projectRow(news.project_id),
    release: rowInJson('releases', news.id, {
      ...plainColumns('releases', ['id', 'description', 'name', 'tag']),
      created_at: momentInJson('releases.created_at'),
      released_at: momentInJson('releases.released_at'),
    }),
    links: rowsInJson(
      membersInJson('release_links', HookLink.properties),
      sql`from release_links where release_links.release_id = ${news.id}`,
      sql`release_links.id desc`,
    ),
  }),
  body: resource('ReleaseHookBody', {
    object_kind: Type.Literal('release'),
    action: Type.Enum(['create', 'update', 'delete']),
    id: Id,
    created_at: Timestamp,
    description: nullable(Type.String()),
    name: Type.String(),
    released_at: Timestamp,
    tag: Type.String(),
    project: HookProject,
    url: Type.String({ format: 'uri' }),
    assets: Type.Object({
      count: Type.Integer(),
      links: Type.Array(HookLink),
      sources: Type.Array(HookSource),
    }),
    commit: nullable(HookCommit),
  }),
}).presentedBy(async ({ action, commit_id, path, project, release, links }, services) => {
  const { tag } = release;
  const { full_path } = project;
  const sources = sourcePaths({ path, full_path, tag }).map((source) => ({
    format: source.format,
    url: services.url + source.path,
  }));
  return {
    ...release,
    object_kind: 'release',
    action,
    project: presentProject(project, services),
    url: services.url + releasePage(full_path, tag),
    assets: { count: sources.length + links.length, links, sources },
    commit: await oneCommit(services, project, commit_id),
  };
});

/** The news of releases of a project, each with the commit of its tag. */
const rowsOf = (project_id: number, action: Action, tagged: readonly TaggedRelease[]) =>
  newsOf(
    {
      ...inProject,
      ...plainColumns('releases', ['id']),
      ...plainColumns('projects', ['path']),
      action: sql<Action>`${action}::text`,
      commit_id: sql<string | null>`told.commit_id`,
    },
    sql`
      from jsonb_to_recordset(${JSON.stringify(tagged)}::jsonb) as told(tag text, commit_id text)
      join releases on releases.project_id = ${project_id} and releases.tag = told.tag
      join projects on projects.id = releases.project_id join namespaces on namespaces.id = projects.namespace_id`,
  );

/**
 * Adds webhook events for releases of a project.
 * @param tx the transaction of the change; before a deletion, call this first
 */
export const tellOfReleases = (
  tx: Database,
  action: Action,
  project_id: number,
  tagged: readonly TaggedRelease[],
): Promise<void> => tellEach(tx, releaseEvent, rowsOf(project_id, action, tagged));

/** The newest release of a project, as if it had been created. */
export const sampleRelease: Sample = async ({ db, storages }, { project_id }) => {
  const newest = await db
    .selectFrom('releases')
    .innerJoin('projects', 'projects.id', 'releases.project_id')
    .select(['releases.tag', 'projects.storage'])
    .where('project_id', '=', project_id)
    .orderBy('releases.id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!newest) return undefined;
  const { tag, storage } = newest;
  const commit_id = await resolveCommit(repositoryOf({ storages }, { id: project_id, storage }), `refs/tags/${tag}`);
  return sampled(releaseEvent, rowsOf(project_id, 'create', [{ tag, commit_id }]));
};
