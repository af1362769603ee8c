/** What pages of deployments share. */
import { commitKind } from '../../../access/index.ts';
import { type Content, type Html, html, type PageCall } from '../../../pages/index.ts';

export interface InProject {
  id: string;
}

export interface WithCommits extends InProject {
  /** Whether the caller may open the commits. */
  reads_code: boolean;
}

/** Whether commits link to the code. */
export const readsCode = ({ may }: PageCall): Promise<boolean> => may('listCommits');

/** The built or deployed revision: `main at 1a2b3c4d`. */
export function revision({ id, reads_code }: WithCommits, { ref, sha }: { ref: string; sha: string }): Html {
  const short = html`<code>${sha.slice(0, 8)}</code>`;
  return html`${ref} at ${reads_code ? html`<a href="${commitKind.page(id, sha)}" rel="nofollow">${short}</a>` : short}`;
}

/** The button that leads to the form for something new. */
export const newButton = (address: string, label: string): Content =>
  html`<a class="button primary" href="${address}">${label}</a>`;
