/** Views of what an application asks a person. */
import { type Html, html } from '../../../pages/index.ts';

/** What each scope lets an application do. */
export const scopeSentences: Readonly<Record<string, string>> = {
  api: 'Do everything that you can do, with the API and with git',
  read_api: 'Read everything that you can read, with the API',
  read_user: 'Read your profile and those of other users',
  read_repository: 'Fetch your repositories, and read their files',
  write_repository: 'Fetch your repositories, and push to them',
  sudo: 'Act as any other user, if you are an administrator',
  openid: 'Know who you are, and which groups you are in',
  profile: 'Read your name, your picture and the address of your page',
  email: 'Read your email address',
};

/** Scopes as sentences. */
export const scopeList = (scopes: readonly string[]): Html =>
  html`<ul>${scopes.map((scope) => html`<li>${scopeSentences[scope] ?? scope} <span class="soft">(<code>${scope}</code>)</span></li>`)}</ul>`;

/** Who registered an application. */
export const registeredBy = (owner: string | null): string => owner ?? 'an administrator of this server';
