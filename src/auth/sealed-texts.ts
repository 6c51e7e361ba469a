/** Encrypts texts for the database with the server's secrets, so that a copy of the database alone does not reveal them. */
import { later } from '../shared/later.js';
import type { Secrets } from './secrets.js';

const loadCrypto = later(() => import('better-auth/crypto'));

export class SealedTexts {
  readonly #purpose: string;
  readonly #secrets: () => Promise<Secrets>;

  /** Texts of one purpose cannot be opened as those of another. */
  constructor(purpose: string, secrets: () => Promise<Secrets>) {
    this.#purpose = purpose;
    this.#secrets = secrets;
  }

  /** Encrypts a text with the newest secret. */
  async seal(text: string): Promise<string> {
    const { symmetricEncrypt } = await loadCrypto();
    return symmetricEncrypt({ key: await this.#key(), data: text });
  }

  /** Undefined if the secret that sealed the text is gone. */
  async open(sealed: string): Promise<string | undefined> {
    const [{ symmetricDecrypt }, key] = await Promise.all([loadCrypto(), this.#key()]);
    return symmetricDecrypt({ key, data: sealed }).catch(() => undefined);
  }

  /** Whether an older secret sealed the text, so that it has to be sealed anew before that secret is forgotten. */
  async isOutdated(sealed: string): Promise<boolean> {
    const [{ parseEnvelope }, key] = await Promise.all([loadCrypto(), this.#key()]);
    return parseEnvelope(sealed)?.version !== key.currentVersion;
  }

  async #key() {
    const { versions } = await this.#secrets();
    const keys = new Map(versions.map(({ version, value }) => [version, `${this.#purpose} ${value}`]));
    return { keys, currentVersion: versions[0]?.version ?? 0 };
  }
}
