//! Exports of the module: memory for a request, and its response. Numbers are positions and lengths in the
//! module's memory.
//!
//! Only these exports in the crate are unsafe. `assets/engine.js` is the caller.

#![cfg(target_family = "wasm")]

/// Allocates memory for a request of `length` bytes. [`windlass_answer`] frees it.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_memory(length: usize) -> *mut u8 {
    Box::into_raw(vec![0u8; length].into_boxed_slice()).cast()
}

/// Answers the request in the `length` bytes from [`windlass_memory`]. The response is its length in four
/// bytes, little-endian, followed by this number of bytes of JSON. [`windlass_free`] frees it.
///
/// # Safety
///
/// `request` is the result of [`windlass_memory`] for `length`, filled with UTF-8 and used once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_answer(request: *mut u8, length: usize) -> *mut u8 {
    // SAFETY: the caller guarantees it.
    let request = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(request, length)) };
    let answer = crate::answer(&String::from_utf8_lossy(&request));
    let mut out = Vec::with_capacity(answer.len() + 4);
    out.extend_from_slice(&(answer.len() as u32).to_le_bytes());
    out.extend_from_slice(answer.as_bytes());
    Box::into_raw(out.into_boxed_slice()).cast()
}

/// Frees a response.
///
/// # Safety
///
/// `answer` is a result of [`windlass_answer`], used once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_free(answer: *mut u8) {
    // SAFETY: the caller guarantees it; a response has its length in its first four bytes.
    unsafe {
        let length = u32::from_le_bytes(*answer.cast::<[u8; 4]>()) as usize + 4;
        drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(answer, length)));
    }
}
