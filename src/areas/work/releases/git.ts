/** Releases with data from the repositories of their projects. */
import type { Static } from 'typebox';
import { type MaybeCaller, uploadsPath } from '../../../access/index.ts';
import { readCommit, repositoryOf, resolveCommit } from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import { toHtml } from '../../../markdown/index.ts';
import { presentCommit } from '../../code/repository/index.ts';
import { linksFor } from '../../conversation/markdown/index.ts';
import { milestonesById, presentMilestone } from '../../planning/milestones/index.ts';
import { presentRelease, type Release, type ReleaseRights, type ReleaseRow } from './present.ts';
import { issueCounts } from './queries.ts';

/** The commit of a tag; null if the tag points to another object. */
async function commitOf({ url, storages }: Services, row: ReleaseRow) {
  const repository = repositoryOf({ storages }, { id: row.project_id, storage: row.storage });
  const id = await resolveCommit(repository, `refs/tags/${row.tag}`);
  return id === undefined ? null : presentCommit(url, row, await readCommit(repository, id));
}

/** The notes of releases of one project as HTML. Their references are looked up together. */
async function htmlsOf(services: Services, caller: MaybeCaller, rows: readonly ReleaseRow[]): Promise<string[]> {
  const [first] = rows;
  if (!first) return [];
  const { project_id, full_path } = first;
  const texts = rows.map(({ description }) => description ?? '');
  const { db, url } = services;
  const linkOf = await linksFor({ db, url, caller }, texts, { full_path });
  const context = { linkOf, uploads: uploadsPath('project', project_id) };
  return Promise.all(texts.map((text) => toHtml(text, context, project_id)));
}

interface Shown {
  caller: MaybeCaller;
  /** Only for releases of one project. */
  with_html: boolean;
  /** The rights for each release, in the order of the rows. */
  rights: readonly ReleaseRights[];
}

/** Releases in replies, with their milestones and commits. */
export async function presentReleases(
  services: Services,
  rows: readonly ReleaseRow[],
  { caller, with_html, rights }: Shown,
): Promise<Static<typeof Release>[]> {
  const { db, url } = services;
  const ids = [...new Set(rows.flatMap(({ milestone_ids: of }, index) => (rights[index]!.reads_milestones ? of : [])))];
  const [milestones, counts, htmls] = await Promise.all([
    milestonesById(db, ids),
    issueCounts(db, caller, ids),
    with_html ? htmlsOf(services, caller, rows) : [],
  ]);
  return Promise.all(
    rows.map(async (row, index) => {
      const may = rights[index]!;
      const own = may.reads_milestones ? row.milestone_ids.flatMap((id) => milestones.get(id) ?? []) : [];
      return presentRelease(url, row, may, {
        description_html: htmls[index],
        commit: may.reads_code ? await commitOf(services, row) : null,
        milestones: own.map((milestone) => ({
          ...presentMilestone(url, milestone),
          issue_stats: counts.get(milestone.id) ?? { total: 0, closed: 0 },
        })),
      });
    }),
  );
}
