/** The releases of the projects of a group (docs/reference/releases.md#groups). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import {
  groupVisible,
  isDownloadable,
  isMemberOfProject,
  isUsable,
  isVisibleProject,
  levels,
  projectLevel,
  projectState,
} from '../../../access/index.ts';
import { get, pageOf } from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { presentReleases } from './git.ts';
import { presentBasic, Release } from './present.ts';
import { releaseRows } from './queries.ts';

export const groupReleaseRoutes = [
  get('/groups/:id/releases', {
    operation: 'listGroupReleases',
    summary: 'List the releases of the projects of a group and below, the latest first',
    access: groupVisible,
    input: {
      sort: Type.Enum(['desc', 'asc'], { default: 'desc', description: 'By `released_at`' }),
      simple: Type.Boolean({ default: false, description: 'Whether to return only the basic fields' }),
      ...paging,
    },
    returns: pageOf(Release),
    handle: async ({ caller, group, input, ...services }) => {
      const { db } = services;
      const isRead = sql<boolean>`(projects.visibility <> 'private' or ${caller?.admin ? sql`true` : isMemberOfProject(caller, levels.guest)})`;
      const query = releaseRows(db)
        .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
        .select([
          sql<boolean>`${isDownloadable(caller)}`.as('reads_code'),
          sql<boolean>`(${isUsable(caller, 'issues')} or ${isUsable(caller, 'merge_requests')})`.as('reads_milestones'),
          sql<boolean>`(${projectLevel(caller)} >= ${levels.developer} and not ${projectState.read_only})`.as(
            'may_edit',
          ),
        ])
        .where(sql<boolean>`namespaces.traversal_ids @> array[${group.id}::bigint]`)
        .where(isVisibleProject(caller))
        .where(isUsable(caller, 'releases'))
        .where(isRead)
        .orderBy('releases.released_at', input.sort)
        .orderBy('releases.id', input.sort);
      const page = await paginate(db, query, input);
      if (input.simple)
        return {
          ...page,
          items: page.items.map((row) => ({ ...presentBasic(row), ...(row.reads_code ? { tag_name: row.tag } : {}) })),
        };
      const shown = { caller, with_html: false, rights: page.items };
      return { ...page, items: await presentReleases(services, page.items, shown) };
    },
  }),
];
