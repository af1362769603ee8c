/** What wikis are given by `areas/index.ts`. */
import type { MaybeCaller, WikiPlace } from '../../../access/index.ts';
import type { Services } from '../../../http/index.ts';

/** A page whose Markdown is rendered. */
export interface RenderedPage {
  place: WikiPlace;
  wiki_id: number;
  slug: string;
  /** Without front matter. */
  text: string;
}

/**
 * The Markdown of a page as HTML, with the references that the caller may follow.
 * @throws TooMuchWaiting when many long pages of the wiki are being rendered
 */
export type RenderPage = (
  asking: Pick<Services, 'db' | 'url'> & { caller: MaybeCaller },
  page: RenderedPage,
) => Promise<string>;
