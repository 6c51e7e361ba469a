/** Below this, there is less to save than the header says. */
const packedCharactersMin = 1024;

/** The body of a request: packed with gzip where the platform can and it is worth it. */
export async function pack(text: string): Promise<string | ArrayBuffer> {
  if (text.length < packedCharactersMin || typeof CompressionStream === 'undefined') return text;
  return new Response(new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer();
}
