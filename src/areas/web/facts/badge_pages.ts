/** Badges of the newest pipeline of a branch or tag (docs/reference/pipelines.md#badges). */
import { notFound } from '../../../http/index.ts';
import { filePage, type PageCall } from '../../../pages/index.ts';
import { PipelineDetail } from '../../code/pipelines/index.ts';
import { badge, coverageShown, statusShown } from './badge_rules.ts';

/** Badges are requested with every view of a page that embeds them. */
const kept_s = 60;

/** Callers who may not read pipelines get the same response whether the project exists or not. */
async function latest(call: PageCall) {
  if (!(await call.may('listPipelines'))) throw notFound('Page');
  return call.perhaps(call.one(PipelineDetail, 'getLatestPipeline', { ref: call.params.ref! }));
}

const pictureOf = (
  name: 'pipeline' | 'coverage',
  say: (pipeline: Awaited<ReturnType<typeof latest>>) => { value: string; color: string },
) =>
  filePage(`/:id/-/badges/*ref/${name}.svg`, async (call) => ({
    body: badge(name, say(await latest(call))).text,
    headers: { 'content-type': 'image/svg+xml; charset=utf-8', 'cache-control': `private, max-age=${kept_s}` },
  }));

export const badgePages = [
  pictureOf('pipeline', (pipeline) => statusShown(pipeline?.status)),
  pictureOf('coverage', (pipeline) => coverageShown(pipeline?.coverage)),
];
