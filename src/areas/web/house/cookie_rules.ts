/**
 * The messages hidden in a browser: stored in a separate cookie, since readers need not be signed in. Pure functions.
 */

const name = 'dismissed_messages';
const kept_s = 30 * 86_400;
/** The maximum number of stored IDs; older ones are dropped. */
const maximumKept = 40;

/** The IDs of hidden messages. */
export function dismissedIn(cookies: string | undefined): number[] {
  const [, ids] = cookies?.match(/(?:^|; ?)dismissed_messages=([\d.]{1,800})(?:;|$)/) ?? [];
  return ids?.split('.').map(Number) ?? [];
}

/** The cookie that hides another message. @param url the external address of the server */
export function cookieHiding(cookies: string | undefined, id: number, url: string): string {
  const ids = [...new Set([...dismissedIn(cookies), id])].slice(-maximumKept);
  const secure = url.startsWith('https:') ? '; Secure' : '';
  return `${name}=${ids.join('.')}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${kept_s}${secure}`;
}
