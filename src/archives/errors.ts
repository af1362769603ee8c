/** Errors in files that another system made. */

/** The content is malformed or truncated. The message is a sentence for the person who requested the file. */
export class InvalidContent extends Error {
  override name = 'InvalidContent';
}

/** The content is too large, or too expensive to read. The message is a sentence for the person who requested the file. */
export class LimitExceeded extends Error {
  override name = 'LimitExceeded';
}
