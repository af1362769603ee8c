/** How commits and branches appear in replies (docs/reference/repository.md). */

import { type Static, Type } from 'typebox';
import { commitKind } from '../../../access/index.ts';
import { pagePath } from '../../../foundation/addresses.ts';
import type { Commit as GitCommit } from '../../../git/index.ts';
import { Id, nullable, optional, resource, Timestamp } from '../../../http/index.ts';
import { PipelineBasic } from '../pipelines/present.ts';

const shortId_characters = 8;

/** The author, committer and message of a commit, included in every reply with a commit. */
export const commitCore = {
  id: Type.String(),
  parent_ids: Type.Array(Type.String()),
  message: Type.String(),
  authored_date: Timestamp,
  author_name: Type.String(),
  author_email: Type.String(),
  committed_date: Timestamp,
  committer_name: Type.String(),
  committer_email: Type.String(),
};

const commitFields = {
  id: Type.String(),
  short_id: Type.String(),
  created_at: Timestamp,
  parent_ids: Type.Array(Type.String()),
  title: Type.String(),
  message: Type.String(),
  author_name: Type.String(),
  author_email: Type.String(),
  authored_date: Timestamp,
  committer_name: Type.String(),
  committer_email: Type.String(),
  committed_date: Timestamp,
  trailers: Type.Record(Type.String(), Type.String()),
  extended_trailers: Type.Record(Type.String(), Type.Array(Type.String())),
  web_url: Type.String(),
};
const stats = Type.Object({ additions: Type.Integer(), deletions: Type.Integer(), total: Type.Integer() });

export const Commit = resource('Commit', commitFields);
export const ListedCommit = resource('ListedCommit', { ...commitFields, stats: optional(stats) });
export const CommitDetail = resource('CommitDetail', {
  ...commitFields,
  stats: optional(stats),
  status: nullable(Type.String()),
  project_id: Id,
  last_pipeline: nullable(PipelineBasic),
});
export const Branch = resource('Branch', {
  name: Type.String(),
  commit: Commit,
  merged: Type.Boolean(),
  protected: Type.Boolean(),
  developers_can_push: Type.Boolean(),
  developers_can_merge: Type.Boolean(),
  can_push: Type.Boolean(),
  default: Type.Boolean(),
  web_url: Type.String(),
});

export const treePage = pagePath('/:project/-/tree/:ref');
/** @param name of the file; clients use only the extension */
export const archivePage = pagePath('/:project/-/archive/:ref/:name');
export const blobPage = pagePath('/:project/-/blob/:ref/:path');
/** A range is two revisions with `..` or `...` between them. */
export const comparePage = pagePath('/:project/-/compare/:range');

/**
 * @param url the external address of the server
 * @param options.trailers whether the trailers of the message are shown
 */
export function presentCommit(
  url: string,
  project: { full_path: string },
  commit: GitCommit,
  { trailers = true }: { trailers?: boolean } = {},
): Static<typeof Commit> {
  const { tree_id: _, ...shown } = commit;
  return {
    ...shown,
    short_id: commit.id.slice(0, shortId_characters),
    created_at: commit.committed_date,
    ...(trailers ? {} : { trailers: {}, extended_trailers: {} }),
    web_url: url + commitKind.page(project.full_path, commit.id),
  };
}
