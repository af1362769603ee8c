/** Rendering texts of users to HTML, in the context of their project. */
import { uploadsPath } from '../../../access/index.ts';
import { toHtml } from '../../../markdown/index.ts';
import { type Html, type PageCall, sanitised } from '../../../pages/index.ts';
import { linksFor } from '../../conversation/markdown/index.ts';
import { throughProxy } from '../../instance/pictures/index.ts';

/** The context of texts: references and uploads belong to a project or group. */
export interface TextPlace {
  kind: 'project' | 'group';
  /** If omitted, uploads are not resolved. */
  id?: number;
  full_path: string;
}

/**
 * Renders the texts of a page, resolving their references together.
 * @param place undefined for texts that belong to a user
 * @param ticks the ids of the forms by which the boxes of each text are saved (ticking_rules.ts)
 * @returns the HTML of each text; undefined for a missing or empty text
 */
export async function textsAsHtml(
  { services, caller }: Pick<PageCall, 'services' | 'caller'>,
  place: TextPlace | undefined,
  texts: readonly (string | null | undefined)[],
  ticks: readonly (string | undefined)[] = [],
): Promise<(Html | undefined)[]> {
  const { db, url } = services;
  const rendered = texts.filter((text) => typeof text === 'string');
  const context = place && (place.kind === 'group' ? { group_path: place.full_path } : { full_path: place.full_path });
  const rendering = {
    linkOf: rendered.length > 0 ? await linksFor({ db, caller, url }, rendered, context) : undefined,
    uploads: place?.id === undefined ? undefined : uploadsPath(place.kind, place.id),
  };
  return Promise.all(
    texts.map(async (text, index) => {
      const anchors = index === 0 ? undefined : `user-content-${index}-`;
      return text
        ? sanitised(throughProxy(services, await toHtml(text, { ...rendering, anchors, ticks: ticks[index] })), 2)
        : undefined;
    }),
  );
}

/** The path of the project in a full reference, such as `group/project#1`. */
export const pathIn = (reference: string): string => reference.replace(/[#!]\d+$/, '');

/** The path of an address on this server, for links that stay on the host that the browser has used. */
export function pathOf(web_url: string): string {
  const { pathname, search, hash } = new URL(web_url);
  return pathname + search + hash;
}
