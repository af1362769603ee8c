/** Texts of people as HTML, in the context of their project. */
import { uploadsPath } from '../../../access/index.ts';
import { isRendered, toHtml } from '../../../markdown/index.ts';
import { type Html, type PageCall, sanitised } from '../../../pages/index.ts';
import { linksFor } from '../../conversation/markdown/index.ts';

/** Where texts are written: their references and uploads are those of a project or group. */
export interface TextPlace {
  kind: 'project' | 'group';
  /** Without it, uploads are not looked for. */
  id?: number;
  full_path: string;
}

/**
 * Renders the texts of a page, whose references are looked up together.
 * @param place undefined for what belongs to a user
 * @returns one for each text; undefined for one that is missing or empty
 */
export async function textsAsHtml(
  { services: { db, url }, caller }: Pick<PageCall, 'services' | 'caller'>,
  place: TextPlace | undefined,
  texts: readonly (string | null | undefined)[],
): Promise<(Html | undefined)[]> {
  const rendered = texts.filter((text) => typeof text === 'string' && isRendered(text)) as string[];
  const context = place && (place.kind === 'group' ? { group_path: place.full_path } : { full_path: place.full_path });
  const rendering = {
    linkOf: rendered.length > 0 ? await linksFor({ db, caller, url }, rendered, context) : undefined,
    uploads: place?.id === undefined ? undefined : uploadsPath(place.kind, place.id),
    images_of: url,
  };
  return Promise.all(
    texts.map(async (text, index) => {
      const anchors = index === 0 ? undefined : `user-content-${index}-`;
      return text ? sanitised(await toHtml(text, { ...rendering, anchors }), 2) : undefined;
    }),
  );
}

/** The path of the project in a full reference, such as `group/project#1`. */
export const pathIn = (reference: string): string => reference.replace(/[#!]\d+$/, '');

/** The path of an address of this server, for links that stay on the host by which the browser came. */
export function pathOf(web_url: string): string {
  const { pathname, search, hash } = new URL(web_url);
  return pathname + search + hash;
}
