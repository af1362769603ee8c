/** How badges are exported and imported (docs/reference/relations_export.md#badges). */
import { sql } from 'kysely';
import { column, type RecordKind, type Relation, required, shown, text, time } from '../../../relations/index.ts';
import { nameReasons, urlReasons } from './rules.ts';

const badge: RecordKind = {
  table: 'badges',
  owner: { project: 'project_id', group: 'group_id' },
  title: 'link_url',
  members: {
    name: column('name', text(nameReasons)),
    link_url: required('link_url', text(urlReasons)),
    image_url: required('image_url', text(urlReasons)),
    type: shown(sql`case when badges.project_id is null then 'GroupBadge' else 'ProjectBadge' end`),
    created_at: required('created_at', time),
    updated_at: required('updated_at', time),
  },
  stays: {},
};

/** The badges of a project. */
export const projectBadges: Relation = { name: 'project_badges', kind: badge };

/** The badges of a group. */
export const groupBadges: Relation = { name: 'badges', kind: badge };
