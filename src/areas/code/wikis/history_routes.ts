/** The history of wiki pages, for web pages only. API clients clone the wiki. */
import { Type } from 'typebox';
import { wikiReader } from '../../../access/index.ts';
import { changedFiles, countCommits, listCommits, readCommit } from '../../../git/index.ts';
import { type AnyEndpoint, capitalized, found, get, listOf, optional, pageOf, resource } from '../../../http/index.ts';
import { gitPaging } from '../../../lists/index.ts';
import { Diff, diffsOf } from '../repository/commits/diff_present.ts';
import { pageNoun } from './actions.ts';
import { versionIn } from './git.ts';
import { planOfGroups } from './kind.ts';
import { pageAt } from './page_git.ts';

export const WikiPageVersion = resource('WikiPageVersion', {
  id: Type.String({ description: 'Of the commit' }),
  title: Type.String({ description: 'Of the commit' }),
  author_name: Type.String(),
  authored_date: Type.String({ format: 'date-time' }),
});

const Slug = Type.String();

function routesOf(kind: 'project' | 'group'): AnyEndpoint[] {
  const base = `/${kind}s/:id/wikis/:slug`;
  const Noun = capitalized(kind);
  const reading = { access: wikiReader(kind), ...(kind === 'group' ? ({ plan: planOfGroups } as const) : {}) };
  const missing = { 404: `404 ${pageNoun} Not Found` };
  return [
    get(`${base}/versions`, {
      operation: `list${Noun}WikiPageVersions`,
      summary: 'List the commits that changed a wiki page, newest first',
      ...reading,
      input: { slug: Slug, ...gitPaging },
      returns: pageOf(WikiPageVersion),
      refusals: missing,
      handle: async ({ place, input: { slug, page, per_page }, ...services }) => {
        const version = found(pageNoun, await versionIn(services, place));
        const { repository, commit_id } = version;
        const { path } = found(pageNoun, await pageAt(version, slug));
        const list = { from: [commit_id], path };
        const skip = (page - 1) * per_page;
        const [total, items] = await Promise.all([
          countCommits(repository, list),
          listCommits(repository, { ...list, skip, limit: per_page }),
        ]);
        return { items, page, per_page, total, has_more: total > skip + items.length };
      },
    }),
    get(`${base}/diff`, {
      operation: `list${Noun}WikiPageDiffs`,
      summary: 'Get what a commit changed in a wiki page',
      ...reading,
      input: { slug: Slug, version_id: optional(Type.String({ description: 'The commit; by default the newest' })) },
      returns: listOf(Diff),
      refusals: missing,
      handle: async ({ place, input: { slug, version_id }, ...services }) => {
        const version = found(pageNoun, await versionIn(services, place, version_id));
        const { repository, commit_id } = version;
        const { parent_ids } = await readCommit(repository, commit_id);
        const range = { from: parent_ids[0] ?? null, to: commit_id };
        const files = await changedFiles(repository, { ...range, renames: true });
        const own = files.filter(({ path, old_path }) => [path, old_path].some((each) => each.startsWith(`${slug}.`)));
        return diffsOf(repository, range, own, { unidiff: false, isPage: true });
      },
    }),
  ];
}

export const wikiHistoryRoutes: readonly AnyEndpoint[] = [...routesOf('project'), ...routesOf('group')];
