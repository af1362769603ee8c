/** Webhook events for releases (docs/reference/hooks.md#events). */
import { type RawBuilder, sql } from 'kysely';
import { type Database, momentInJson } from '../../../db/index.ts';
import { repositoryOf, resolveCommit } from '../../../git/index.ts';
import { commitFacts, hole, projectFacts, type Sample } from '../../activity/hooks/index.ts';
import { tellEach } from '../../instance/hook_events/index.ts';
import { releasePage, sourcePaths } from './present.ts';

/** A release by its tag, with the commit of the tag. */
export interface TaggedRelease {
  tag: string;
  commit_id: string | undefined;
}

interface NewsPlace {
  project_id: number;
  /** The path of the project, for URLs. */
  path: string;
  full_path: string;
}

/** The paths of its page and archives, without the URL of the server. */
function addressesOf({ path, full_path }: NewsPlace, tag: string) {
  const sources = sourcePaths({ path, full_path, tag }).map((source) => ({
    format: source.format,
    url: { $url: source.path },
  }));
  return { page: releasePage(full_path, tag), sources };
}

/** Releases with the columns for webhooks. */
const rowsOf = (place: NewsPlace, tagged: readonly TaggedRelease[]): RawBuilder<unknown> => sql`
  select releases.*, namespaces.traversal_ids as group_ids, told.commit_id, told.page, told.sources
    from jsonb_to_recordset(${JSON.stringify(
      tagged.map(({ tag, commit_id }) => ({ tag, commit_id, ...addressesOf(place, tag) })),
    )}::jsonb) as told(tag text, commit_id text, page text, sources json)
    join releases on releases.project_id = ${place.project_id} and releases.tag = told.tag
    join projects on projects.id = releases.project_id join namespaces on namespaces.id = projects.namespace_id`;

type Action = 'create' | 'update' | 'delete';

const links = sql`(
  select coalesce(json_agg(json_build_object('id', id, 'link_type', link_type, 'name', name, 'url', url) order by id desc), '[]')
    from release_links where release_id = news.id)`;

const factsOf = (action: Action) => sql`json_build_object(
  'object_kind', 'release', 'action', ${sql.lit(action)}, 'id', news.id, 'created_at', ${momentInJson('news.created_at')},
  'description', news.description, 'name', news.name, 'released_at', ${momentInJson('news.released_at')}, 'tag', news.tag,
  'project', ${projectFacts(sql`news.project_id`)}, 'url', ${hole('url', sql`news.page`)},
  'assets', json_build_object(
    'count', json_array_length(news.sources) + (select count(*) from release_links where release_id = news.id), 'links', ${links},
    'sources', news.sources),
  'commit', ${commitFacts(sql`news.project_id`, sql`news.commit_id`)})`;

/**
 * Adds webhook events for releases of a project.
 * @param tx the transaction of the change; before a deletion, call this first
 */
export const tellOfReleases = (
  tx: Database,
  action: Action,
  place: NewsPlace,
  tagged: readonly TaggedRelease[],
): Promise<void> =>
  tellEach(tx, { trigger: 'releases_events', to_system: false, rows: rowsOf(place, tagged), facts: factsOf(action) });

/** The newest release of a project, as if it had been created. */
export const sampleRelease: Sample = async ({ db, storages }, { project_id }) => {
  const newest = await db
    .selectFrom('releases')
    .innerJoin('projects', 'projects.id', 'releases.project_id')
    .select(['releases.tag', 'projects.path', 'projects.full_path', 'projects.storage'])
    .where('project_id', '=', project_id)
    .orderBy('releases.id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!newest) return undefined;
  const { tag, storage, ...place } = newest;
  const commit_id = await resolveCommit(repositoryOf({ storages }, { id: project_id, storage }), `refs/tags/${tag}`);
  return sql`(select ${factsOf('create')} from (${rowsOf({ project_id, ...place }, [{ tag, commit_id }])}) news)`;
};
