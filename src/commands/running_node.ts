/** The running versions of Coppice and Node. */
import { installedBuild, installedVersion } from '../foundation/installation.ts';

/** The version of the product, and the hash of the sources that it was built from. */
export const productVersion = `Coppice ${installedVersion} (build ${installedBuild})`;

/** The end-of-life dates of Node releases. A release that is not listed is newer than this list. */
const supportEnds: Record<string, string> = { 24: '2028-04-30', 25: '2026-06-01', 26: '2029-04-30' };

/**
 * Describes the running versions in a sentence, with a recommendation when Node is out of support.
 * @param version without a `v`
 */
export function runningNode(version: string, now: Date): string {
  const [major = ''] = version.split('.');
  const end = supportEnds[major];
  const isOver = end !== undefined && now.toISOString().slice(0, 10) > end;
  const advice = isOver
    ? ` Node ${major} has been out of support since ${end}; use a supported long-term release.`
    : '';
  return `${productVersion} runs on Node ${version}.${advice}`;
}
