/** Problems between the sites, as sentences for the operator. */
import { installedVersion } from '../../../foundation/installation.ts';
import { OutboundError } from '../../../outbound/index.ts';
import type { Handshake } from './handshake_http.ts';
import { PrimaryRefusal, type Site, shakeHands } from './request_actions.ts';

/** A larger clock difference is reported, although signatures are still accepted. */
const noticed_s = 10;

/** Explains a refusal to the operator. */
export function refusalSentence({ reason, message }: PrimaryRefusal, nodeName: string): string {
  if (reason === 'signature') return 'The secret key is not that of the primary.';
  if (reason === 'node') return `The primary does not know the node ${nodeName}.`;
  if (reason === 'disabled') return 'The site is disabled.';
  if (reason === 'credential') return 'The site has no valid credential. Repair it.';
  return `The primary refuses this site: ${message}`;
}

function differences({ version, time }: Handshake): string[] {
  const apart_s = Math.round(Math.abs(Date.parse(time) - Date.now()) / 1000);
  return [
    ...(version === installedVersion ? [] : [`The version is ${installedVersion} here and ${version} on the primary.`]),
    ...(apart_s < noticed_s ? [] : [`The clocks of this site and the primary are ${apart_s} seconds apart.`]),
  ];
}

/** Checks whether a secondary reaches its primary, has a node there, and runs a matching version. */
export async function problemsOfLink(site: Site): Promise<string[]> {
  try {
    return differences(await shakeHands(site));
  } catch (error) {
    if (error instanceof PrimaryRefusal) return [refusalSentence(error, site.geo.nodeName)];
    if (error instanceof OutboundError)
      return [`The primary at ${site.geo.primaryUrl} cannot be reached: ${error.message}.`];
    throw error;
  }
}
