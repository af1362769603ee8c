/** Validation of clusters (docs/reference/clusters.md). Pure functions: each returns the reasons for refusing a value, empty if it is valid. */
import { X509Certificate } from 'node:crypto';
import { urlReasons } from '../../../outbound/index.ts';
import { tooLong } from '../../../texts/index.ts';

const maximumLengths = {
  api_url: 2048,
  token: 8192,
  ca_cert: 65_535,
  domain: 255,
  label: 63,
  environment_scope: 255,
  namespace: 63,
};

const blank = "can't be blank";

// The public API sends the leading space.
export const nameReasons = (name: string): string[] => (name.trim() === '' ? [' has to be present'] : []);

/** @param mayBeLocal whether the settings of the server allow addresses of the local network */
export function apiUrlReasons(url: string, mayBeLocal: boolean): string[] {
  const long = tooLong(url, maximumLengths.api_url);
  return long.length > 0 ? long : urlReasons(url, mayBeLocal);
}

/** @param token trimmed */
export const tokenReasons = (token: string): string[] =>
  token === '' ? [blank] : tooLong(token, maximumLengths.token);

const pemBlock = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

/** A certificate or a bundle of certificates. Nothing else is allowed, such as a private key, because everyone who sees the cluster can read it. */
export function certificateReasons(text: string): string[] {
  const long = tooLong(text, maximumLengths.ca_cert);
  if (long.length > 0) return long;
  const blocks = text.match(pemBlock) ?? [];
  const isBundle = blocks.length > 0 && !text.replaceAll(pemBlock, '').includes('-----') && blocks.every(isCertificate);
  return isBundle ? [] : ['must be a valid PEM certificate'];
}

const reservedNamespace = 'gitlab-managed-apps';

/**
 * @param namespace in lower case
 * @param managed whether the service manages the namespaces of the cluster
 */
export function namespaceReasons(namespace: string, managed: boolean): string[] {
  const isLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(namespace);
  return [
    ...tooLong(namespace, maximumLengths.namespace),
    ...(isLabel
      ? []
      : ["can contain only lowercase letters, digits, and '-'. Must start with a letter, and cannot end with '-'"]),
    ...(namespace === reservedNamespace ? ['is reserved'] : []),
    // Worded for clusters of projects, which may have one.
    ...(managed ? ['only allowed for project cluster'] : []),
  ];
}

/** A host name; its last label may be a number. */
export function domainReasons(domain: string): string[] {
  const long = tooLong(domain, maximumLengths.domain);
  if (long.length > 0) return long;
  const labels = domain.split('.');
  const reasons = [
    ...(labels.every((label) => label.length >= 1 && label.length <= maximumLengths.label)
      ? []
      : [`label must be between 1 and ${maximumLengths.label} characters long`]),
    ...(labels.some((label) => label.startsWith('-') || label.endsWith('-'))
      ? ['label begins or ends with a hyphen']
      : []),
    ...(/^[a-z0-9.-]*$/i.test(domain) ? [] : ['label contains invalid characters (valid characters: [a-z0-9\\-])']),
  ];
  return reasons;
}

/** @param scope the name of an environment, or a pattern such as `*` */
export const scopeReasons = (scope: string): string[] =>
  scope.trim() === '' ? [blank] : tooLong(scope, maximumLengths.environment_scope);
