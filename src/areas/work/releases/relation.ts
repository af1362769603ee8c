/** How releases leave and arrive (docs/reference/relations_export.md#releases). */
import { hash } from 'node:crypto';
import { sql } from 'kysely';

import {
  type ArrivingRow,
  choice,
  column,
  lenient,
  markdown,
  parts,
  person,
  type RecordKind,
  type Relation,
  required,
  shown,
  text,
  time,
} from '../../../relations/index.ts';
import { tooLong } from '../../../texts/index.ts';
import { milestoneReference } from '../../planning/milestones/index.ts';
import { type LinkFields, linkReasons, linkTypes } from './rules.ts';

const link: RecordKind = {
  table: 'release_links',
  distinct: ['name'],
  members: {
    name: required('name', text()),
    url: required('url', text()),
    filepath: column('filepath', text()),
    link_type: lenient('link_type', choice(...linkTypes), 'other'),
    created_at: required('created_at', time),
    updated_at: required('updated_at', time),
  },
  stays: {},
  refuse: (row) => linkReasons(row as unknown as LinkFields)[0]?.join(' '),
};

/** A milestone of the project. Milestones are imported before releases. */
const milestone: RecordKind = {
  table: 'release_milestones',
  is_link: true,
  distinct: ['milestone_id'],
  members: { milestone: { ...milestoneReference, is_required: true } },
  stays: {},
};

/** Only the text is exported: its hash is recomputed. */
const evidence: RecordKind = {
  table: 'release_evidences',
  members: {
    summary: required('summary', text()),
    summary_sha: shown(sql`release_evidences.sha`),
    created_at: required('collected_at', time),
  },
  stays: {},
  derives: {
    columns: { sha: 'text' },
    derive: (rows: readonly ArrivingRow[]) => {
      for (const { row } of rows) row.sha = hash('sha256', row.summary as string);
      return undefined;
    },
  },
};

const release: RecordKind = {
  table: 'releases',
  owner: { project: 'project_id' },
  title: 'tag',
  distinct: ['tag'],
  members: {
    tag: required(
      'tag',
      text((tag) => (tag === '' ? ["can't be blank"] : [])),
    ),
    name: required(
      'name',
      text((name) => (name === '' ? ["can't be blank"] : tooLong(name, 255))),
    ),
    description: column('description', markdown()),
    author_id: person('author_id'),
    created_at: required('created_at', time),
    updated_at: required('updated_at', time),
    released_at: required('released_at', time),
    links: parts(link, 'release_id'),
    milestone_releases: parts(milestone, 'release_id'),
    evidences: parts(evidence, 'release_id'),
  },
  stays: { evidence_due: 'evidence is collected where the release was created' },
};

/** The releases of a project. */
export const releases: Relation = { name: 'releases', kind: release, is_batched: true };
