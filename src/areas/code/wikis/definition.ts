/** Types for the dependencies of wikis that `areas/index.ts` provides. */
import type { MaybeCaller, WikiPlace } from '../../../access/index.ts';
import type { Services } from '../../../http/index.ts';

/** A page to render as Markdown. */
export interface RenderedPage {
  place: WikiPlace;
  wiki_id: number;
  slug: string;
  /** Without front matter. */
  text: string;
}

/**
 * Renders the Markdown of a page as HTML, with links for the references that the caller may follow.
 * @throws TooMuchWaiting if too many long pages of the wiki are queued
 */
export type RenderPage = (
  asking: Pick<Services, 'db' | 'url'> & { caller: MaybeCaller },
  page: RenderedPage,
) => Promise<string>;
