//! What the module exports: memory for a request, and its answer. Numbers are positions and lengths in the module's memory.
//!
//! These exports and nothing else in the crate are unsafe; `assets/engine.js` is the other side.

#![cfg(target_family = "wasm")]

/// Memory for a request of `length` bytes, which [`windlass_answer`] takes back.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_memory(length: usize) -> *mut u8 {
    Box::into_raw(vec![0u8; length].into_boxed_slice()).cast()
}

/// Answers the request that stands in [`windlass_memory`]'s `length` bytes. The answer is four bytes of length, little end
/// first, and so many bytes of JSON; [`windlass_free`] takes it back.
///
/// # Safety
///
/// `request` is what [`windlass_memory`] gave for `length`, filled with UTF-8 and used once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_answer(request: *mut u8, length: usize) -> *mut u8 {
    // SAFETY: the caller's promise.
    let request = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(request, length)) };
    let answer = crate::answer(&String::from_utf8_lossy(&request));
    let mut out = Vec::with_capacity(answer.len() + 4);
    out.extend_from_slice(&(answer.len() as u32).to_le_bytes());
    out.extend_from_slice(answer.as_bytes());
    Box::into_raw(out.into_boxed_slice()).cast()
}

/// Takes an answer back.
///
/// # Safety
///
/// `answer` is what [`windlass_answer`] gave, used once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_free(answer: *mut u8) {
    // SAFETY: the caller's promise; an answer says its length in its first four bytes.
    unsafe {
        let length = u32::from_le_bytes(*answer.cast::<[u8; 4]>()) as usize + 4;
        drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(answer, length)));
    }
}
