/** The elements that administrators configure for every page: the appearance, and messages for its reader. */
import { groupFor, projectFor, rightsVersion } from '../../../access/index.ts';
import type { Services } from '../../../http/index.ts';
import { toHtml, toInlineHtml } from '../../../markdown/index.ts';
import {
  type Content,
  type House,
  html,
  type Notice,
  type PageCall,
  type Place,
  sanitised,
} from '../../../pages/index.ts';
import { type Appearance, appearanceFor } from '../../instance/appearance/index.ts';
import { type MessageRow, messagesFor } from '../../instance/broadcast_messages/index.ts';
import { throughProxy } from '../../instance/pictures/index.ts';
import { dismissedIn } from './cookie_rules.ts';

/** The access level of the caller in the project or group of a page; 0 without one. */
async function levelIn({ services, caller }: PageCall, place: Place | undefined, version: string): Promise<number> {
  if (!caller || !place) return 0;
  const find = place.kind === 'project' ? projectFor : groupFor;
  return (await find(services.db, caller, place.id, version))?.access_level ?? 0;
}

const noticeOf = async (services: Services, { id, message, theme, dismissable }: MessageRow): Promise<Notice> => ({
  id,
  theme,
  text: sanitised(throughProxy(services, await toInlineHtml(message))),
  is_dismissable: dismissable,
});

/** The appearance for a page. The session of a signed-in visitor contains the rights version. */
export const appearanceOf = async ({ services: { db }, caller }: PageCall): Promise<Appearance> =>
  appearanceFor(db, caller?.session.rights_version ?? (await rightsVersion(db)));

/** A text of administrators on a page, if it is set. */
export async function guidelinesOf(
  call: PageCall,
  name: 'description' | 'member_guidelines' | 'new_project_guidelines',
): Promise<Content> {
  const text = (await appearanceOf(call))[name];
  return text !== '' && html`<div class="text">${sanitised(throughProxy(call.services, await toHtml(text)), 1)}</div>`;
}

/**
 * The elements around the content of a page. Nothing is queried while the rights version stays the same.
 * @param version the rights version of the request
 */
export async function houseOf(call: PageCall, place: Place | undefined, version: string): Promise<House> {
  const { db } = call.services;
  const [look, messages] = await Promise.all([
    appearanceFor(db, version),
    messagesFor(db, { path: call.path, level: () => levelIn(call, place, version) }, version),
  ]);
  const dismissed = dismissedIn(call.reply.request.headers.cookie);
  const shown = messages.filter(({ id, dismissable }) => !dismissable || !dismissed.includes(id));
  return {
    ...look,
    is_application: look.pwa_name !== '',
    notices: await Promise.all(shown.map((message) => noticeOf(call.services, message))),
  };
}
